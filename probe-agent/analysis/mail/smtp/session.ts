import { readCapabilities } from "#probe-agent/analysis/mail/smtp/capabilities.ts";
import type { SmtpReply, SmtpVerb } from "#probe-agent/port/smtp.ts";

/** What is waited for. */
export type Phase = "banner" | "ehlo" | "helo" | "starttls" | "tls" | "ehlo_secured" | "quit" | "over";

/** What has been said so far, and what is next. */
export interface SmtpSession {
  readonly phase: Phase;
  /** By the phase that waited for it; QUIT's is not kept. */
  readonly replies: Readonly<Partial<Record<Phase, SmtpReply>>>;
  readonly secured: boolean;
}

/** What happened. lost: the connection is gone, or nothing more is to be had from it. */
export type SmtpEvent =
  | { readonly kind: "reply"; readonly reply: SmtpReply }
  | { readonly kind: "secured" }
  | { readonly kind: "lost" };

/** What to do about it. secure: begin TLS; end: close. */
export type SmtpAction =
  | { readonly kind: "send"; readonly verb: SmtpVerb }
  | { readonly kind: "secure" }
  | { readonly kind: "end" };

/** A session before its first octet; `secured` where TLS came before the greeting (RFC 8314 section 3). */
export function beginSession(secured: boolean): SmtpSession {
  return { phase: "banner", replies: {}, secured };
}

/**
 * One step of a client that only looks around (RFC 5321 sections 3.1, 3.2, 4.3; RFC 3207): greeting, EHLO or else HELO,
 * STARTTLS where it is offered, EHLO again, QUIT. Anything but a welcome leads to QUIT.
 */
export function advance(session: SmtpSession, event: SmtpEvent): { session: SmtpSession; action: SmtpAction } {
  if (event.kind === "lost") return { session: { ...session, phase: "over" }, action: { kind: "end" } };
  if (event.kind === "secured") {
    return step({ ...session, secured: true }, "ehlo_secured", { kind: "send", verb: "EHLO" });
  }
  const { reply } = event;
  const { phase } = session;
  const heard = phase === "quit" ? session : { ...session, replies: { ...session.replies, [phase]: reply } };
  const quit = (): Step => step(heard, "quit", { kind: "send", verb: "QUIT" });
  switch (phase) {
    case "banner":
      return reply.code === 220 ? step(heard, "ehlo", { kind: "send", verb: "EHLO" }) : quit();
    case "ehlo":
      if (reply.code === 250) {
        const offered = !session.secured && readCapabilities(reply).extensions.has("STARTTLS");
        return offered ? step(heard, "starttls", { kind: "send", verb: "STARTTLS" }) : quit();
      }
      // 421: the server is closing (section 3.8); anything else: it may know HELO alone (section 3.2).
      return reply.code === 421 ? quit() : step(heard, "helo", { kind: "send", verb: "HELO" });
    case "starttls":
      return reply.code === 220 ? step(heard, "tls", { kind: "secure" }) : quit();
    case "helo":
    case "ehlo_secured":
      return quit();
    default:
      return step(heard, "over", { kind: "end" });
  }
}

type Step = ReturnType<typeof advance>;

function step(session: SmtpSession, phase: Phase, action: SmtpAction): Step {
  return { session: { ...session, phase }, action };
}
