import { isIP, type Socket } from "node:net";
import { describeError } from "#shared/contracts/error-code.ts";
import { openConnection, splitTarget } from "#probe-agent/exporter/connect.ts";
import type { Expression } from "#shared/blackbox/expression.ts";
import { createLineReader, type LineReader } from "#probe-agent/exporter/line-reader.ts";
import type { QueryResponse, TcpOptions } from "#shared/blackbox/module.ts";
import type { Probe, Prober } from "#probe-agent/exporter/probe.ts";
import { resolveTarget } from "#probe-agent/exporter/resolve.ts";
import { family, type Labels } from "#probe-agent/exporter/samples.ts";
import { secureConnection, setTlsSamples } from "#probe-agent/exporter/tls/client.ts";

const FAILED_BY_REGEX = family("probe_failed_due_to_regex", "Indicates if probe failed due to regex");
// Newer than 0.23.
const EXPECT_INFO = family("probe_expect_info", "Explicit content matched");

/** Maximum number of lines of a server in the log of a probe. */
const MOST_LOGGED_LINES = 1000;

/** Connects, under TLS if wanted, and holds the dialogue of the module. */
export const probeTcp: Prober<TcpOptions> = async (probe, options, context) => {
  const { samples, log, target } = probe;
  samples.set(FAILED_BY_REGEX, 0);
  const split = splitTarget(target);
  const host = split?.host ?? hostOf(target);
  if (host === null) {
    log("error", "Error splitting target address and port", { err: `address ${target}: missing port in address` });
    return "failure";
  }
  const resolved = await resolveTarget(probe, host, options, context);
  if (resolved.status !== "ok") return resolved.status;
  const source = options.source_ip_address;
  if (split === null || (source !== null && isIP(source) === 0)) {
    log("error", "Error dialing TCP", { err: split === null ? "unknown port" : "error parsing source ip address" });
    return "failure";
  }
  log("info", options.tls ? "Dialing TCP with TLS" : "Dialing TCP without TLS");
  const opened = await openConnection({ ip: resolved.ip, port: split.port, source }, probe, context);
  if ("fault" in opened) {
    log("error", "Error dialing TCP", { err: opened.fault });
    return "failure";
  }
  const secure = async (socket: Socket): Promise<Socket | { readonly fault: string }> => {
    const offer = { options: options.tls_config, serverName: host, alpn: [] };
    const secured = await secureConnection(socket, offer, probe, context);
    if ("fault" in secured) return secured;
    setTlsSamples(samples, secured.facts);
    return secured.socket;
  };
  const first = options.tls ? await secure(opened) : opened;
  if ("fault" in first) {
    log("error", "Error dialing TCP", { err: first.fault });
    return "failure";
  }
  log("info", "Successfully dialed");
  const dialogue = beginDialogue(first, probe);
  const steps = options.query_response.entries();
  let holds = true;
  for (let step = steps.next(); holds && step.done !== true; step = steps.next()) {
    const [number, entry] = step.value;
    log("info", "Processing query response entry", { entry_number: number });
    holds = (await dialogue.exchange(entry)) && (!entry.starttls || (await dialogue.secure(secure)));
  }
  dialogue.close();
  return holds ? "success" : "failure";
};

/** A dialogue of lines with a server. Its functions return whether the probe goes on. */
interface Dialogue {
  /** Waits for the line that an entry expects and sends what it says. */
  exchange(entry: QueryResponse): Promise<boolean>;
  /** Begins TLS. What the server sent before it is lost, as in the exporter. */
  secure(start: (socket: Socket) => Promise<Socket | { readonly fault: string }>): Promise<boolean>;
  close(): void;
}

function beginDialogue(first: Socket, { samples, log }: Probe): Dialogue {
  let socket = first;
  let reader = readerOf(first);
  let logged = 0;
  /** Returns what replaces references in a text by what the line matched; null if no line did. */
  const expect = async (expression: Expression): Promise<((template: string) => string) | null> => {
    const regexp = expression.source;
    for (;;) {
      const read = await reader.next();
      if (read === "closed") {
        samples.set(FAILED_BY_REGEX, 1);
        log("error", "Regexp did not match", { regexp });
        return null;
      }
      if ("fault" in read) {
        log("error", "Error reading from connection", { err: read.fault });
        return null;
      }
      const { line } = read;
      logged += 1;
      if (logged <= MOST_LOGGED_LINES) log("debug", "Read line", { line });
      const expand = expression.find(line);
      if (expand === null) continue;
      log("info", "Regexp matched", { regexp, line });
      return expand;
    }
  };
  return {
    async exchange({ expect: expression, labels, send }) {
      let text = send;
      if (expression !== null) {
        const expand = await expect(expression);
        if (expand === null) return false;
        text = expand(send);
        if (labels.length > 0) samples.set(EXPECT_INFO, 1, expandLabels(labels, expand));
      }
      if (text === "") return true;
      log("debug", "Sending line", { line: text });
      const error = await new Promise<Error | null | undefined>((resolve) => {
        socket.write(`${text}\n`, resolve);
      });
      if (!error) return true;
      log("error", "Failed to send", { err: describeError(error) });
      return false;
    },
    async secure(start) {
      reader.detach();
      const secured = await start(socket);
      if ("fault" in secured) {
        log("error", "TLS Handshake (client) failed", { err: secured.fault });
        return false;
      }
      log("info", "TLS Handshake (client) succeeded.");
      socket = secured;
      reader = readerOf(secured);
      return true;
    },
    close() {
      reader.detach();
      // What the server still sends would keep the connection open.
      socket.resume();
      socket.destroySoon();
    },
  };
}

/** Creates a reader. Our end stays open when the server closes its own: a line can still be sent. */
function readerOf(socket: Socket): LineReader {
  socket.allowHalfOpen = true;
  return createLineReader(socket);
}

/** Labels in the order of their names, as the exporter has them. */
function expandLabels(labels: QueryResponse["labels"], expand: (template: string) => string): Labels {
  const sorted = labels.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(sorted.map(({ name, value }) => [name, expand(value)]));
}

/** Returns the host of "host:port" whatever the port is, because the exporter looks it up first; null if there is none. */
function hostOf(target: string): string | null {
  const match = /^(?:\[([^[\]]{0,255})\]|([^:[\]]{0,255})):[^:[\]]{0,255}$/.exec(target);
  return match === null ? null : (match[1] ?? match[2] ?? "");
}
