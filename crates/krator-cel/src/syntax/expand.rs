//! Converts the result of the parser to a tree. The parser expands only the oldest macros; the others are expanded
//! here.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue};

use super::macros;
use super::tree::{Builder, Literal, Loop, MisusedMacro, Node, NodeKind};

impl Builder {
    /// Converts a parsed expression to a tree.
    pub(super) fn lower(&mut self, parsed: &IdedExpr) -> Result<Node, MisusedMacro> {
        let kind = match &parsed.expr {
            Expr::Unspecified => return Err(MisusedMacro("incomplete expression".to_string())),
            Expr::Ident(name) => NodeKind::Ident(name.clone()),
            Expr::Literal(literal) => NodeKind::Literal(lower_literal(literal)),
            Expr::Select(select) => NodeKind::Select {
                operand: Box::new(self.lower(&select.operand)?),
                field: select.field.clone(),
                test: select.test,
            },
            Expr::Call(call) => {
                let target = call
                    .target
                    .as_ref()
                    .map(|target| self.lower(target))
                    .transpose()?;
                let arguments = self.lower_all(call.args.iter())?;
                return macros::call(self, &call.func_name, target, arguments);
            }
            Expr::List(list) => {
                let elements = self.lower_all(list.elements.iter())?;
                let optional = |at| list.optional_indices.contains(&at);
                NodeKind::List(
                    elements
                        .into_iter()
                        .enumerate()
                        .map(|(at, node)| (node, optional(at)))
                        .collect(),
                )
            }
            Expr::Map(map) => {
                let mut entries = Vec::new();
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        entries.push((self.lower(&entry.key)?, self.lower(&entry.value)?, entry.optional));
                    }
                }
                NodeKind::Map(entries)
            }
            Expr::Struct(message) => {
                let mut fields = Vec::new();
                for entry in &message.entries {
                    if let EntryExpr::StructField(field) = &entry.expr {
                        fields.push(self.lower(&field.value)?);
                    }
                }
                NodeKind::Message(message.type_name.clone(), fields)
            }
            Expr::Comprehension(fold) => NodeKind::Loop(Box::new(Loop {
                range: self.lower(&fold.iter_range)?,
                variable: fold.iter_var.clone(),
                second_variable: fold.iter_var2.clone(),
                accumulator: fold.accu_var.clone(),
                start: self.lower(&fold.accu_init)?,
                condition: self.lower(&fold.loop_cond)?,
                step: self.lower(&fold.loop_step)?,
                result: self.lower(&fold.result)?,
            })),
        };
        Ok(self.node(kind))
    }

    fn lower_all<'a>(
        &mut self,
        parsed: impl Iterator<Item = &'a IdedExpr>,
    ) -> Result<Vec<Node>, MisusedMacro> {
        parsed.map(|part| self.lower(part)).collect()
    }
}

fn lower_literal(literal: &LiteralValue) -> Literal {
    match literal {
        LiteralValue::Boolean(value) => Literal::Bool(*value.inner()),
        LiteralValue::Bytes(value) => Literal::Bytes(value.inner().to_vec()),
        LiteralValue::Double(value) => Literal::Double(*value.inner()),
        LiteralValue::Int(value) => Literal::Int(*value.inner()),
        LiteralValue::Null => Literal::Null,
        LiteralValue::String(value) => Literal::String(value.inner().to_string()),
        LiteralValue::UInt(value) => Literal::Uint(*value.inner()),
    }
}
