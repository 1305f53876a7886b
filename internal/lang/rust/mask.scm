; What a function is in Rust: one with a body or without, and a closure that a const or static holds, or the cell that makes
; its value.
(function_item name: (_) @name body: (_)) @function
(function_signature_item name: (_) @name) @function
(const_item name: (_) @name value: (closure_expression) @closure) @function
(static_item name: (_) @name value: (closure_expression) @closure) @function
(const_item name: (_) @name value: (call_expression arguments: (arguments . (closure_expression) @closure))) @function
(static_item name: (_) @name value: (call_expression arguments: (arguments . (closure_expression) @closure))) @function

; A macro writes functions too. What is before and behind their tokens is no pattern of a query: a result, conditions,
; repetitions. Go looks for them in the macro, and these are their bodies.
(macro_definition) @macro
(token_tree) @function

; Types and traits, the blocks of their functions, modules.
(struct_item name: (_) @name) @class
(enum_item name: (_) @name) @class
(union_item name: (_) @name) @class
(trait_item name: (_) @name) @class
(impl_item) @class
(mod_item name: (_) @name body: (_)) @class

; An attribute stands before what it belongs to, or at the head of what is around it.
(attribute_item) @attribute
(inner_attribute_item) @attribute

; What is called. Of what a macro is given: a name right before parentheses.
(call_expression) @call
(macro_invocation) @call
(token_tree (identifier) @use . (token_tree) @arguments)

; Variables.
(let_declaration pattern: (identifier) @local)
(let_condition pattern: (identifier) @local)
(parameter pattern: (identifier) @local)
(for_expression pattern: (identifier) @local)
(field_pattern pattern: (identifier) @local)
(match_pattern . (identifier) @local)
(mut_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(reference_pattern (identifier) @local)
(captured_pattern . (identifier) @local)
(or_pattern (identifier) @local)
(slice_pattern (identifier) @local)
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local)
(closure_parameters (identifier) @local)

; The shape of a body.
(if_expression) @branch @nest
(match_expression) @nest
(match_arm) @branch
(while_expression) @branch @nest
(for_expression) @branch @nest
(loop_expression) @branch @nest
(try_expression) @branch
(closure_expression) @nest
(binary_expression) @logic
(line_comment) @comment
(block_comment) @comment
