; What a function is in Java: a method, a constructor, a block that runs for a class or for each of its objects.
(method_declaration name: (_) @name) @function @nest
(annotation_type_element_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(compact_constructor_declaration name: (_) @name) @function
(static_initializer) @function
(class_body (block) @function)
(enum_body_declarations (block) @function)

; What has members: types, a constant of an enum with a body of its own, and what has no name: new X() { … }
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(annotation_type_declaration name: (_) @name) @class
(enum_constant name: (_) @name body: (class_body)) @class
(object_creation_expression (class_body) @class)

; What is called. A constant of an enum is an object of it. A method that is handed to a call may be called by it.
(method_invocation) @call
(object_creation_expression) @call
(explicit_constructor_invocation) @call
(enum_constant) @use
(resource type: (_)) @use
(argument_list (method_reference) @use)

; What does not run when a class is loaded: the value of a field of an object, and a lambda that a field holds.
((field_declaration) @later (#not-match? @later "^(@\\w+(\\([^)]*\\))?\\s+|[a-z]+\\s+)*static\\b"))
(field_declaration declarator: (variable_declarator value: (lambda_expression) @later))
(constant_declaration declarator: (variable_declarator value: (lambda_expression) @later))

; Variables and fields, with the class of what is called on them.
(formal_parameter type: (_) @type name: (_) @name) @local
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @local
(enhanced_for_statement type: (_) @type name: (_) @name) @local
(resource type: (_) @type name: (_) @name) @local
(catch_formal_parameter (catch_type (_) @type) name: (_) @name) @local
(instanceof_expression right: (_) @type name: (_) @name) @local
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @member
(constant_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @member

; The shape of a body.
(if_statement) @branch @nest
(for_statement) @branch @nest
(enhanced_for_statement) @branch @nest
(while_statement) @branch @nest
(do_statement) @branch @nest
(switch_expression) @nest
(switch_label) @branch
(try_statement) @nest
(try_with_resources_statement) @nest
(catch_clause) @branch
(synchronized_statement) @nest
(ternary_expression) @branch
(binary_expression) @logic
(lambda_expression) @nest
(line_comment) @comment
(block_comment) @comment
