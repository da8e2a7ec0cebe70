/**
 * Instructions in the response to initialize. They hold what is the same for every tool, so that no tool repeats it.
 * Hosts give them to the model together with the list of tools.
 */
export const INSTRUCTIONS = `Vantage checks public web sites, hosts, domains and mail systems from probes in one or many locations.

Arguments: every check takes its target and an optional \`locations\`, an array of locations to run from. Without it one probe runs the check. Each item is a region, a country (ISO code, DE), a continent (africa, asia, europe, north-america, south-america, oceania, antarctica), a city (with hyphens for spaces), a network (AS64500), a tag, probe:<id>, nearest (the closest probe) or all (one probe in each region). + joins terms that must all match (europe+AS64500); ! negates a term (europe+!DE), and an item such as !DE removes these locations; :n at the end asks for n probes (DE:3). The error for an unknown location lists the known ones.

Results: output schemas name the top-level fields of a result, and descriptions name the fields inside a list or an object. Every result also has observed_at (start of the check, ISO 8601 UTC) and limitations (what could not be determined, one sentence each); most have elapsed_ms and source (origin of the data). Names that end in _ms are milliseconds. null: unknown or absent. With \`locations\` the result is {locations: [{location, status: ok or failed, data or error, duration_ms}], summary}, where each data has the tool's fields.

Errors: a failed call is a result with isError and {error: {code, message, field, reason, retry_after_seconds}}; the message says what to change.`;
