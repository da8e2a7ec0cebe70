import { Value } from "typebox/value";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import { SERVER_INPUT as INPUT } from "#shared/tools/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";
import type { JobInput } from "#probe-agent/tools/implement.ts";

/** The server a job names in place of the agent's resolvers, vetted, and how it is asked. */
interface ChosenServer {
  /** Parts of every question to it. */
  readonly question: Pick<DnsQuestion, "server" | "transport" | "serverName" | "path">;
  readonly ip: string;
  /** Milliseconds its name took to look up; 0 for an address. */
  readonly resolveMs: number;
}

/**
 * Reads and vets the server of a job's input; null where it names none. Its address is held against the egress rules
 * like any target's. Failures are those of `resolve`; stage dns, probe, for what cannot be read.
 */
export async function chooseServer(net: Net, input: JobInput): Promise<Outcome<ChosenServer | null>> {
  if (Object.keys(input).length === 0) return ok(null);
  if (!Value.Check(INPUT, input)) return failed("dns", "probe", "bad_server", "the server to ask cannot be read");
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
