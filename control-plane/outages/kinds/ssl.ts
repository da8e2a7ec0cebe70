import { monitorSsl } from "#shared/monitor-checks/monitor-ssl.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { certificateOf } from "#control-plane/outages/kinds/expiring.ts";
import { PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { readTlsTarget } from "#control-plane/outages/kinds/tls-target.ts";

/** The certificate of a server. */
export const ssl = {
  ...PROBED,
  label: "Certificate",
  watches: "certificate of a host",
  target: {
    label: "Host",
    hint: "Such as example.com",
    form: "a host, host:port or https URL",
    port: "field",
    ruledPart(url) {
      const target = readTlsTarget(url, null);
      return target.ok ? target.host : url;
    },
  },
  fields: ["port"],
  portNote: "TCP port of the TLS server. Default: that of url, or 443",
  findConflict: ({ url, port }) => tlsConflict(url, port),
  expires: (url, { port }) => certificateOf(url, port),
  evidence: { ...PROBED.evidence, splitsUrl: true, isHandshake: true },
  probe: {
    ...PROBE,
    contract: monitorSsl,
    params(url, { port }) {
      const target = readTlsTarget(url, port);
      if (!target.ok) throw new Error("the target of an ssl monitor cannot be read");
      return { host: target.host, port: target.port };
    },
  },
} as const satisfies Kind<null>;

function tlsConflict(url: string, port: number | null): FieldProblem | null {
  const target = readTlsTarget(url, port);
  if (target.ok) return null;
  return target.field === "url"
    ? problem("url", "type", "must be a host, host:port or https:// URL, without user name or password")
    : problem("port", "type", "must be the port of url, or be left out");
}
