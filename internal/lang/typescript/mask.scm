; What TypeScript has beside JavaScript: classes that are not made, namespaces, and functions that are only declared.
[(abstract_class_declaration) (internal_module) (module)] @class
(function_signature) @function
(class_body [(method_signature) (abstract_method_signature)] @function)
(import_require_clause (identifier) @import)
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(required_parameter (decorator) @head)
