import { isIPv6, type Socket } from "node:net";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { ok, refused } from "#shared/contracts/outcome.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { SmtpPort, SmtpAnswer, SmtpLink, SmtpLoss, SmtpTls } from "#probe-agent/port/smtp.ts";
import type { TLSSocket } from "node:tls";
import { createReplyReader, type ReplyReader } from "#probe-agent/analysis/mail/smtp-reply.ts";
import { endReason, observe } from "#probe-agent/net/tls/observation.ts";
import { openSession } from "#probe-agent/net/tls/session.ts";

/** Dependencies of the SMTP port. */
interface SmtpDeps {
  readonly clock: Clock;
  readonly egress: Egress;
}

/**
 * Creates the SMTP port. It connects only to vetted addresses, vets the peer again after connecting, and observes the
 * job's deadline.
 */
export function createSmtp({ clock, egress }: SmtpDeps): (job: JobLimits) => SmtpPort {
  return (job) => ({
    async connect({ ip, port, timeoutMs }) {
      if (!egress.allowsAddress(ip)) return refused;
      const startedAt = clock.monotonic();
      const deadline = Math.min(job.deadline, startedAt + timeoutMs);
      const leftMs = Math.max(0, Math.ceil(deadline - startedAt));
      const signal = AbortSignal.any([job.signal, AbortSignal.timeout(leftMs)]);
      const dialed = await dial([{ ip, version: isIPv6(ip) ? 6 : 4 }], port, { clock, signal, deadline, egress });
      if (dialed.status !== "ok") return dialed;
      return ok(createLink(dialed.data.socket, { clock, job, connectMs: clock.monotonic() - startedAt }));
    },
  });
}

/** Clock, limits and connection time of a link. */
interface LinkOptions {
  readonly clock: Clock;
  readonly job: JobLimits;
  readonly connectMs: number;
}

/** How long to wait for clear text that a server sends directly after its reply to STARTTLS, in milliseconds. */
const PLAINTEXT_MS = 30;

/** Creates a link over an open connection. The link is the only reader of the socket. */
function createLink(socket: Socket, { clock, job, connectMs }: LinkOptions): SmtpLink {
  let inbox = openInbox(socket);
  let end = (): void => void socket.destroy();
  const close = (): void => {
    job.signal.removeEventListener("abort", close);
    end();
  };
  job.signal.addEventListener("abort", close, { once: true });
  const localAddress = socket.localAddress ?? "127.0.0.1";
  const name = isIPv6(localAddress) ? `[IPv6:${localAddress}]` : `[${localAddress}]`;
  return {
    connectMs,
    localAddress,
    close,
    send(verb) {
      const line = verb === "EHLO" || verb === "HELO" ? `${verb} ${name}` : verb;
      inbox.stream.write(`${line}\r\n`, "latin1");
      return line;
    },
    read: (timeoutMs) => inbox.read(Math.min(timeoutMs, job.deadline - clock.monotonic()), job.signal),
    async secure(servername, timeoutMs): Promise<SmtpTls> {
      const early = await inbox.detach(PLAINTEXT_MS);
      const startedAt = clock.monotonic();
      const signal = AbortSignal.any([job.signal, AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)))]);
      const opened = await openSession(
        socket,
        { servername },
        { signal, monotonic: () => clock.monotonic(), waitsForRefusal: () => false },
      );
      end = opened.close;
      if (job.signal.aborted) close();
      const at = { started: startedAt - connectMs, connected: startedAt };
      const outcome = observe(opened.session, () => endReason(job, clock), at);
      inbox = openInbox(opened.socket);
      const late = outcome.status === "failed" && outcome.reason === "plain_text" ? opened.session.received : null;
      return { outcome, plaintext: early ?? (late === null ? null : describeOctets(late)) };
    },
  };
}

/** Returns the number of octets and their text as a reply reader prints it. */
function describeOctets(octets: Uint8Array): { bytes: number; text: string } {
  const reader = createReplyReader();
  reader.push(octets);
  return { bytes: octets.length, text: reader.rest().text };
}

interface Inbox {
  readonly stream: Socket | TLSSocket;
  read(timeoutMs: number, signal: AbortSignal): Promise<SmtpAnswer>;
  /** Stops reading after `waitMs` milliseconds. Returns the octets that no reply contains; null if there are none. */
  detach(waitMs: number): Promise<{ bytes: number; text: string } | null>;
}

/** Maximum number of octets received on one connection. A server that sends more is disconnected. */
const MAX_CONNECTION = 256 * 1024;

function openInbox(stream: Socket | TLSSocket): Inbox {
  const reader: ReplyReader = createReplyReader();
  let bytes = 0;
  let ended: "closed" | "reset" | null = stream.destroyed ? "closed" : null;
  let wake = (): void => undefined;
  const data = (chunk: Buffer): void => {
    bytes += chunk.length;
    reader.push(chunk);
    if (bytes > MAX_CONNECTION) stream.pause();
    wake();
  };
  const finish = (how: "closed" | "reset") => () => {
    ended ??= how;
    wake();
  };
  const closed = finish("closed");
  stream.on("data", data).on("end", closed).on("close", closed);
  // The listener is never removed, because a late error without a listener would end the process.
  stream.on("error", finish("reset"));
  const lost = (loss: SmtpLoss): SmtpAnswer => {
    const { text, bytes: unread } = reader.rest();
    return { kind: "lost", loss, received: text, bytes: unread };
  };
  const nextAnswer = (): SmtpAnswer | null => {
    const reply = reader.take();
    if (reply !== null) return { kind: "reply", reply };
    const dead = reader.end() ?? (bytes > MAX_CONNECTION ? "too_long" : ended);
    return dead === null ? null : lost(dead);
  };
  return {
    stream,
    read(timeoutMs, signal) {
      const { promise, resolve } = Promise.withResolvers<SmtpAnswer>();
      const settle = (answer: SmtpAnswer): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        wake = () => undefined;
        resolve(answer);
      };
      const abort = (): void => settle(lost("cancelled"));
      const timer = setTimeout(() => settle(nextAnswer() ?? lost("timeout")), Math.max(0, timeoutMs));
      wake = () => {
        const answer = nextAnswer();
        if (answer !== null) settle(answer);
      };
      signal.addEventListener("abort", abort, { once: true });
      wake();
      return promise;
    },
    async detach(waitMs) {
      await new Promise((resolve) => {
        setTimeout(resolve, waitMs);
      });
      stream.off("data", data).off("end", closed).off("close", closed);
      stream.pause();
      const rest = reader.rest();
      return rest.bytes === 0 ? null : rest;
    },
  };
}
