; What a function is in JavaScript. Declarations and methods have a name of their own. A literal has the name that it is
; bound to (const f = () => …, exports.f = function …, { f: () => … }); one without is code of what is around it.
[
  (function_declaration)
  (method_definition)
  (function_expression)
  (generator_function)
  (arrow_function)
] @function @nest
(generator_function_declaration) @function
(class_static_block) @function

; Classes, and objects: what an object literal holds is named after what that is bound to.
[(class_declaration) (class) (object)] @class

; What is called, decorators too. Markup calls nothing when it is made.
[(call_expression) (new_expression)] @call
(decorator [(identifier) (member_expression)] @callee) @use

; What does not run when the file is loaded: a program, and what a file does if it is the program.
((program (hash_bang_line)) @later)
((if_statement condition: (_) @_asks) @later
  (#match? @_asks "require\\.main|import\\.meta\\.main|process\\.argv\\[1\\]"))

; What a file takes from others, and gives to them. An assignment may be to exports, or to a prototype.
(import_statement) @import
(import_clause (identifier) @import)
(namespace_import (identifier) @import)
[(import_specifier) (export_statement) (export_specifier) (namespace_export) (assignment_expression)] @import
(variable_declarator value: (member_expression property: (property_identifier) @_prototype) (#eq? @_prototype "prototype")) @import

; Code in which no function has a name; the value of a field of a class.
[(decorator) (computed_property_name)] @nameless
(method_definition name: (computed_property_name) @head)
(class_body (_ value: (_) @field))

; Parameters, and variables that hold no function of the file. Of a pattern, what is noted is no name, and is called by nobody.
(formal_parameters (_) @local)
(assignment_pattern left: (identifier) @local)
(rest_pattern (identifier) @local)
(arrow_function parameter: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(variable_declarator name: (identifier) @local value: [(identifier) (member_expression) (subscript_expression) (this)])

; The shape of a body.
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement)] @branch @nest
[(switch_statement) (try_statement)] @nest
[(switch_case) (catch_clause) (ternary_expression)] @branch
(binary_expression) @logic
(comment) @comment
