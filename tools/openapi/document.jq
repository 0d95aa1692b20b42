# Reduces an OpenAPI document to the kinds served and the schemas that they refer to, one path or schema a line:
# NAME JSON. $kinds: kinds.json; $version: the key of the document in it. A parameter with its own line in $parameters
# (NAME.NUMBER JSON) is written as that name.

# Whether a path belongs to a kind served. The deprecated watches under /watch/ do not.
def served($names):
  ltrimstr("/" + $version + "/")
  | ltrimstr("namespaces/{namespace}/")
  | split("/")[0]
  | . as $name
  | $names | index($name);

# Only the forms that the server reads and writes.
def known_forms:
  walk(if type == "object" then
    with_entries(select(.key | IN("application/cbor", "application/cbor-seq", "application/vnd.kubernetes.protobuf",
      "application/vnd.kubernetes.protobuf;stream=watch", "application/apply-patch+cbor") | not))
  else . end);

# Connections (exec, proxy, port-forward) are not served.
def without_connections:
  with_entries(select((.value | type) != "object" or .value["x-kubernetes-action"] != "connect"));

def named_parameters($names):
  walk(if type == "object" and (.parameters | type) == "array" then .parameters |= map($names[tojson]) else . end);

def methods: keys - ["parameters"];

def references: [.. | objects | .["$ref"] | strings | ltrimstr("#/components/schemas/")] | unique;

def closure($schemas):
  . as $known
  | (map($schemas[.] | references[]) + $known | unique) as $more
  | if ($more | length) == ($known | length) then $known else $more | closure($schemas) end;

.components.schemas as $schemas
| (.paths
    | with_entries(select(.key | served($kinds[$version])))
    | map_values(known_forms | without_connections)
    | with_entries(select(.value | methods | length > 0))) as $paths
| ($paths | references | closure($schemas)) as $names
| ($paths | to_entries[] | .key + " " + (.value | named_parameters($parameters) | tojson)),
  ($names[] | . + " " + ($schemas[.] | tojson))
