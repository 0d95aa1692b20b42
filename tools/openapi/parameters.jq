# The parameters of all OpenAPI documents, each with a name: an object from the JSON text to NAME.NUMBER.
[.[] | .paths | .. | objects | .parameters? | arrays | .[]]
| unique
| group_by(.name)
| map(to_entries[] | {key: (.value | tojson), value: "\(.value.name).\(.key)"})
| from_entries
