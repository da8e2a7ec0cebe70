import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { Hook } from "#control-plane/http/gate.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { ProbeListing, ProbeRow } from "#control-plane/checks/probes/listing.ts";
import { STATUS_FIELD } from "#control-plane/surfaces/operator/probes.ts";

/** Prometheus, Configuration, http_sd_config: a list of target groups, every value a string. */
const GROUPS = Type.Array(
  Type.Object({
    targets: Type.Array(Type.String(), { description: "host:port of this service's API" }),
    labels: Type.Record(Type.String(), Type.String(), {
      description:
        "__meta_vantage_* labels of one probe, and the labels that turn the target into a scrape of /api/v4/probe",
    }),
  }),
);
const Query = Type.Object({ status: STATUS_FIELD });

const DESCRIPTION = `For \`http_sd_configs\` of Prometheus: one target group for each enrolled probe that is not revoked; with \`status\` only
probes with this status. The target is this service. \`__scheme__\`, \`__metrics_path__\` (/api/v4/probe) and
\`__param_region\` are set: to probe from each region, a job needs only \`params\` (\`module\`, \`target\`) and its API key
as \`authorization\`. Probes of one region become one target. Labels for \`relabel_configs\`:
\`__meta_vantage_region\`, \`_probe_id\`, \`_country\`, \`_city\`, \`_asn\`, \`_status\` (online, draining, offline, disabled),
\`_version\`, \`_tags\` (between commas: \`,aws,edge,\`), \`_account_id\` (of a private probe) and one
\`__meta_vantage_capability_<name>="true"\` for each capability (icmp4, icmp6, ipv6, browser, ...). Unknown values are
left out. To probe from each probe of a region separately, set the region to the probe and the instance to its id:
\`{source_labels: [__meta_vantage_probe_id], target_label: __param_region, replacement: "probe:$1"}\` and
\`{source_labels: [__meta_vantage_probe_id], target_label: instance}\`. Otherwise copy \`__meta_vantage_region\` to a label, because the series of different regions are otherwise identical:
\`{source_labels: [__meta_vantage_region], target_label: region}\`. In \`http_sd_configs\` set the operator token as
\`authorization: {type: Bearer, credentials: ...}\`: some versions of Prometheus do not add the type. The response is a
plain array without the envelope.`;

/** Registers GET /api/admin/sd/probes: the probes in the format of Prometheus' HTTP service discovery. */
export function registerServiceDiscovery(
  server: FastifyInstance,
  admin: Hook,
  probes: ProbeListing,
  baseUrl: string,
): void {
  const schema = operation({
    id: "admin_discover_probes",
    tag: "Admin",
    summary: "List the probes as targets for Prometheus",
    description: DESCRIPTION.replaceAll("\n", " "),
    data: GROUPS,
    query: Query,
    errors: ["missing_parameter"],
    security: "operator",
  });
  server.route({
    method: "GET",
    url: "/api/admin/sd/probes",
    onRequest: admin,
    schema: { ...schema, response: { ...schema.response, 200: { description: "Target groups", ...GROUPS } } },
    handler: async (request) => {
      const { status } = readQuery(Query, request);
      const rows = await probes.read(status === undefined ? {} : { status });
      return rows
        .filter((row) => status !== undefined || row.status !== "revoked")
        .map((row) => targetGroup(row, baseUrl));
    },
  });
}

/** Returns a probe as a target group; `baseUrl`: base URL of the API, without trailing slash. */
export function targetGroup({ agent, status, accountId }: ProbeRow, baseUrl: string) {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const { place, version, capabilities } = agent;
  const labels = {
    region: place.region,
    probe_id: agent.id,
    country: place.country,
    city: place.city,
    asn: place.asn,
    status,
    version,
    // Lists as in Prometheus' built-in discoveries, so that `.*,aws,.*` matches.
    tags: place.tags.length === 0 ? null : `,${place.tags.join(",")},`,
    account_id: accountId,
    ...Object.fromEntries(Array.from(capabilities, (name) => [`capability_${labelPart(name)}`, "true"])),
  };
  return {
    targets: [`${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`],
    labels: {
      __scheme__: protocol.slice(0, -1),
      __metrics_path__: `${pathname.replace(/\/$/, "")}/api/v4/probe`,
      __param_region: place.region,
      ...Object.fromEntries(
        Object.entries(labels).flatMap(([name, value]) =>
          value === null || value === "" ? [] : [[`__meta_vantage_${name}`, String(value).toWellFormed()]],
        ),
      ),
    },
  };
}

/** Converts a name that the agent chose to the end of a label name: letters, digits and underscores. */
function labelPart(name: string): string {
  return name.slice(0, 32).replaceAll(/[^A-Za-z0-9_]/g, "_");
}
