; What a function is in Go: a function, a method, and a literal that a package variable holds (the hook decides).
(function_declaration name: (_) @name) @function
(method_declaration name: (_) @name) @function
(func_literal) @function @nest

(type_spec name: (_) @name) @class
(type_alias name: (_) @name) @class

; What is called, where the name is none of the function's own.
(call_expression function: (_) @callee) @call
(type_conversion_expression) @call
(type_conversion_expression type: (generic_type type: (_) @callee)) @use ; F[T](x)
(const_declaration) @later
(parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(block (var_declaration (var_spec name: (identifier) @local)))
(range_clause left: (expression_list (identifier) @local))

; The shape of a body.
(if_statement) @branch @nest
(for_statement) @branch @nest
(expression_case) @branch
(type_case) @branch
(communication_case) @branch
(expression_switch_statement) @nest
(type_switch_statement) @nest
(select_statement) @nest
(binary_expression) @logic
(comment) @comment
