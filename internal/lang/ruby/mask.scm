; What a function is in Ruby: a method, of objects or of one object.
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function

; A class or a module, and a constant that holds one: Point = Struct.new(:x, :y) do … end
(class name: (_) @name) @class
(module name: (_) @name) @class
(assignment left: (constant) @name right: (call)) @class

; What is called. A bare name is a call where it is no variable.
(call) @call
(body_statement (identifier) @use)
(program (identifier) @use)
(then (identifier) @use)
(argument_list (identifier) @use)
(array (identifier) @use)
(block_body (identifier) @use)
(assignment right: (identifier) @use)
(call receiver: (identifier) @use)
(method body: (identifier) @use)
(binary (identifier) @use)
(element_reference object: (identifier) @use)

(lambda) @later

; Variables.
(assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(method_parameters (identifier) @local)
(method_parameters (_ name: (identifier) @local))
(block_parameters (identifier) @local)
(block_parameters (_ name: (identifier) @local))
(lambda_parameters (identifier) @local)
(lambda_parameters (_ name: (identifier) @local))
(for pattern: (identifier) @local)
(exception_variable (identifier) @local)

; The shape of a body.
(if) @branch @nest
(unless) @branch @nest
(elsif) @branch
(if_modifier) @branch
(unless_modifier) @branch
(while) @branch @nest
(until) @branch @nest
(for) @branch @nest
(while_modifier) @branch
(until_modifier) @branch
(case) @nest
(case_match) @nest
(when) @branch
(in_clause) @branch
(conditional) @branch
(binary) @logic
(rescue) @branch
(rescue_modifier) @branch
(begin) @nest
(block) @nest
(do_block) @nest
(comment) @comment
