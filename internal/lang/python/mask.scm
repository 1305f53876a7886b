; What a function is in Python: a definition, and a name bound to a lambda.
(function_definition name: (identifier) @name body: (_) @body) @function
(assignment left: (identifier) @name right: (lambda body: (_) @body)) @function
(assignment left: (identifier) @name right: (parenthesized_expression (lambda body: (_) @body))) @function

(class_definition name: (identifier) @name) @class

; What is called: f(x), Box[int](x), and a decorator.
(call function: (_) @callee) @call
(decorator (identifier) @callee) @use
(decorator (attribute) @callee) @use

; Defaults are evaluated with the definition; most annotations are not evaluated any more.
(type) @skip
(function_definition parameters: (_) @head)
(lambda parameters: (_) @head)
(parameters (identifier) @local)
(parameters (default_parameter name: (identifier) @local))
(parameters (typed_parameter (identifier) @local))
(parameters (typed_default_parameter name: (identifier) @local))

(import_statement) @import
(import_from_statement) @import

; What runs when somebody calls it, or never when the file is imported.
(assignment right: (lambda) @later)
(pair value: (lambda) @later)
(list (lambda) @later)
(tuple (lambda) @later)

; A print or an exec of Python 2.
(print_statement) @fault
(exec_statement) @fault

; The shape of a body. A condition may never hold when the file is imported.
(if_statement condition: (_) @condition) @branch @if
(elif_clause) @branch
(except_clause) @branch
(except_group_clause) @branch
(case_clause) @branch
(for_statement) @branch
(while_statement) @branch
(conditional_expression) @branch
(boolean_operator) @branch
(for_in_clause) @branch
(block) @nest
(comment) @comment
