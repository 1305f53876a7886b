; What a function is in PHP: one on its own, or a method.
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function

; A class, and what is declared as one is. One without a name is made where it stands.
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(object_creation_expression (declaration_list)) @class

; What is called. A variable begins with $, so no name of a function is one.
(function_call_expression) @call
(member_call_expression) @call
(nullsafe_member_call_expression) @call
(scoped_call_expression) @call
(object_creation_expression) @call

; Namespaces, and what has another name in this file: use A\B as C
(namespace_definition) @namespace
(namespace_use_clause (namespace_aliasing_clause)) @import
(namespace_use_group_clause (namespace_aliasing_clause)) @import

; An attribute is made when somebody asks for it.
(attribute_list) @skip

; The shape of a body.
(if_statement) @branch @nest
(else_if_clause) @branch
(for_statement) @branch @nest
(foreach_statement) @branch @nest
(while_statement) @branch @nest
(do_statement) @branch @nest
(switch_statement) @nest
(case_statement) @branch
(match_expression) @nest
(match_conditional_expression) @branch
(conditional_expression) @branch
(binary_expression) @logic
(try_statement) @nest
(catch_clause) @branch
(anonymous_function_creation_expression) @nest
(arrow_function) @nest
(comment) @comment
