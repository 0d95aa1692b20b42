# Reduces an aggregated discovery document to the kinds served, one resource a line: GROUP VERSION JSON.
# $kinds: kinds.json.
.items[] as $group
| $group.versions[] as $version
| (($group.metadata.name // "") | if . == "" then "api/" else "apis/" + . + "/" end) as $root
| $kinds[$root + $version.version] as $served
| select($served != null)
| $version.resources[]
| select(.resource as $name | $served | index($name))
| [$group.metadata.name // "core", $version.version, tojson] | join(" ")
