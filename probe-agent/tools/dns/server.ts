import { Value } from "typebox/value";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import { SERVER_INPUT as INPUT } from "#shared/tools/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";
import type { JobInput } from "#probe-agent/tools/implement.ts";

/** The vetted server that a job names in place of the agent's resolvers. */
interface ChosenServer {
  /** Parts of every question to it. */
  readonly question: Pick<DnsQuestion, "server" | "transport" | "serverName" | "path">;
  readonly ip: string;
  /** Time for the lookup of its name in milliseconds. 0 for an address. */
  readonly resolveMs: number;
}

/**
 * Reads and vets the server in a job's input. Null if the input names none. Its address is checked against the egress
 * rules like any target's. Failures are those of `resolve`, and stage dns, source probe, for an unreadable input.
 */
export async function chooseServer(net: Net, input: JobInput): Promise<Outcome<ChosenServer | null>> {
  if (Object.keys(input).length === 0) return ok(null);
  if (!Value.Check(INPUT, input))
    return failed("dns", "probe", "bad_server", "the server in the job's input cannot be read");
  const { host, port, path, transport } = input;
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const [address] = resolved.data.allowed;
  if (address === undefined) throw new Error("resolved to no allowed address");
  const literal = address.version === 6 ? `[${address.ip}]` : address.ip;
  const encrypted = transport === "dot" || transport === "doh";
  return ok({
    question: {
      server: port === undefined ? literal : `${literal}:${port}`,
      transport,
      ...(encrypted ? { serverName: host } : {}),
      ...(path === undefined ? {} : { path }),
    },
    ip: address.ip,
    resolveMs: resolved.data.elapsedMs,
  });
}
