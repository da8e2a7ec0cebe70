import type { Socket } from "node:net";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { resolveTrusted } from "#probe-agent/net/dns/trusted.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import { DeadlineError, exchangeFailure } from "#probe-agent/net/http/failure.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { WhoisPort, WhoisReply, WhoisRequest } from "#probe-agent/port/whois.ts";

/** Dependencies of the WHOIS port. */
interface WhoisDeps {
  readonly clock: Clock;
  readonly egress: Egress;
}

/**
 * Maximum size of an answer in bytes. The longest genuine answers, for name servers with many hosts, have some tens of
 * kilobytes.
 */
const MAX_BYTES = 256 * 1024;
const DEFAULT_TIMEOUT_MS = 8_000;
/** One line of visible ASCII: a control character would end the query and begin another protocol's line. */
const QUERY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Creates the WHOIS port. It resolves names and vets addresses as for every other connection. */
export function createWhois({ clock, egress }: WhoisDeps): (job: JobLimits, dns: DnsPort) => WhoisPort {
  return (job, dns) => ({
    async ask(request) {
      const { host, port, query, trusted = false } = request;
      if (!QUERY.test(query)) {
        return failed("request", "target", "bad_query", "a WHOIS query must be one line of visible ASCII");
      }
      const deadline = Math.min(job.deadline, clock.monotonic() + (request.timeoutMs ?? DEFAULT_TIMEOUT_MS));
      const leftMs = Math.max(0, Math.ceil(deadline - clock.monotonic()));
      const signal = AbortSignal.any([job.signal, AbortSignal.timeout(leftMs)]);
      const late = failed("dns", "resolver", "timeout", "the DNS lookup timed out");
      const resolved = await waitAtMost(leftMs, trusted ? resolveTrusted(dns, host) : dns.resolve(host), late);
      if (resolved.status !== "ok") return resolved;
      const limits = { clock, signal, deadline, egress: trusted ? null : egress };
      const dialed = await dial(resolved.data.allowed, port, limits);
      if (dialed.status !== "ok") return dialed;
      const { socket, address } = dialed.data;
      const where = `${host} port ${port}`;
      const received = await exchange(socket, query, signal, where);
      return received.status === "ok" ? ok({ ...received.data, ip: address.ip }) : received;
    },
  });
}

/** Sends the query and reads to the end, the limit or the signal, whichever comes first. */
function exchange(
  socket: Socket,
  query: WhoisRequest["query"],
  signal: AbortSignal,
  where: string,
): Promise<Outcome<Omit<WhoisReply, "ip">>> {
  const { promise, resolve } = Promise.withResolvers<Outcome<Omit<WhoisReply, "ip">>>();
  const octets = createOctets();
  const end = (failure: Failed | null): void => {
    signal.removeEventListener("abort", giveUp);
    socket.destroy();
    if (octets.length === 0)
      resolve(failure ?? failed("response", "target", "empty", `${where}: the server sent no data`));
    else resolve(ok(replyOf(octets.view(), failure)));
  };
  const giveUp = (): void => end(exchangeFailure(new DeadlineError(), "response", where));
  signal.addEventListener("abort", giveUp, { once: true });
  socket.on("data", (chunk: Buffer) => {
    octets.append(chunk);
    if (octets.length > MAX_BYTES) end(null);
  });
  socket.once("end", () => end(null));
  socket.once("close", () => end(null));
  socket.on("error", (error) => end(exchangeFailure(error, "response", where)));
  if (signal.aborted) giveUp();
  else socket.write(`${query}\r\n`, "latin1");
  return promise;
}

function replyOf(received: Buffer, failure: Failed | null): Omit<WhoisReply, "ip"> {
  const octets = received.subarray(0, MAX_BYTES);
  const truncated = received.length > MAX_BYTES;
  const read = decode(octets, truncated || failure !== null);
  return {
    ...read,
    bytes: octets.length,
    truncated,
    error: failure === null ? null : failure.reason === "timeout" ? "timeout" : "reset",
  };
}

/**
 * Decodes an answer. RFC 3912 section 4 defines no charset, so valid UTF-8 is UTF-8 and everything else is read as
 * Latin-1.
 */
function decode(octets: Buffer, cut: boolean): Pick<WhoisReply, "text" | "charset"> {
  try {
    // A truncated answer may end within a character, which `stream` leaves out.
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(octets, { stream: cut }), charset: "utf-8" };
  } catch {
    return { text: octets.toString("latin1"), charset: "latin1" };
  }
}
