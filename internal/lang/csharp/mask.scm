; What a function is in C#: a method, a constructor, an operator; an accessor of a property, an indexer or an event; a property
; whose body is an expression; a function among the statements of a program.
(method_declaration) @function
(constructor_declaration) @function
(destructor_declaration) @function
(operator_declaration) @function
(conversion_operator_declaration) @function
(accessor_declaration body: (_)) @function
(property_declaration value: (arrow_expression_clause)) @function
(indexer_declaration value: (arrow_expression_clause)) @function
(global_statement (local_function_statement) @function)
(yield_statement) @yield

; What has members, and the modules of a file.
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(namespace_declaration) @namespace
(file_scoped_namespace_declaration) @namespace

; What is called. To read a property of a class is to call its accessor.
(invocation_expression) @call
(object_creation_expression) @call
(implicit_object_creation_expression) @call
(constructor_initializer) @use
(member_access_expression) @use

; What does not run when a type is used first: the value of a field or a property of an object, a lambda that one holds, and
; what a base's constructor gets.
((field_declaration) @later (#not-match? @later "^(\\s|\\[[^\\]]*\\])*([a-z]+\\s+)*(static|const)\\s"))
((event_field_declaration) @later (#not-match? @later "^(\\s|\\[[^\\]]*\\])*([a-z]+\\s+)*static\\s"))
((property_declaration) @later (#not-match? @later "^(\\s|\\[[^\\]]*\\])*([a-z]+\\s+)*static\\s"))
(field_declaration (variable_declaration (variable_declarator (lambda_expression) @later)))
(property_declaration value: (lambda_expression) @later)
(base_list) @later
(attribute_list) @skip

; Variables, fields and properties, with the class of what is called on them.
(parameter name: (_) @name) @local
(parameter type: (_) @type name: (_) @name) @local
(implicit_parameter) @local
(local_declaration_statement (variable_declaration type: (_) @type (variable_declarator name: (_) @name))) @local
(using_statement (variable_declaration type: (_) @type (variable_declarator name: (_) @name))) @local
(foreach_statement type: (_) @type left: (identifier) @name) @local
(catch_declaration type: (_) @type name: (_) @name) @local
(declaration_expression type: (_) @type name: (_) @name) @local
(declaration_pattern type: (_) @type name: (_) @name) @local
(local_function_statement name: (_) @local)
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (_) @name))) @member
(property_declaration type: (_) @type name: (_) @name) @member

; The shape of a body.
(if_statement) @branch @nest
(for_statement) @branch @nest
(foreach_statement) @branch @nest
(while_statement) @branch @nest
(do_statement) @branch @nest
(switch_statement) @nest
(switch_section) @branch
(switch_expression) @nest
(switch_expression_arm) @branch
(conditional_expression) @branch
(binary_expression) @logic
(try_statement) @nest
(catch_clause) @branch
(using_statement) @nest
(lock_statement) @nest
(fixed_statement) @nest
(checked_statement) @nest
(lambda_expression) @nest
(anonymous_method_expression) @nest
(local_function_statement) @nest
(comment) @comment
