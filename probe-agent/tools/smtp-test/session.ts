import { readCapabilities } from "#probe-agent/tools/smtp-test/capabilities.ts";
import type { SmtpReply, SmtpVerb } from "#probe-agent/port/smtp.ts";

/** Phase of a session, named by the reply or event that it waits for. */
export type Phase = "banner" | "ehlo" | "helo" | "starttls" | "tls" | "ehlo_secured" | "quit" | "over";

/** State of an SMTP session. */
export interface SmtpSession {
  readonly phase: Phase;
  /** Replies by the phase that waited for them. The reply to QUIT is not kept. */
  readonly replies: Readonly<Partial<Record<Phase, SmtpReply>>>;
  /** Whether the session is under TLS. */
  readonly secured: boolean;
}

/** Event of a session. lost: the connection ended, or the server sends nothing more. */
export type SmtpEvent =
  | { readonly kind: "reply"; readonly reply: SmtpReply }
  | { readonly kind: "secured" }
  | { readonly kind: "lost" };

/** Action that follows an event. secure: begin TLS; end: close the connection. */
export type SmtpAction =
  | { readonly kind: "send"; readonly verb: SmtpVerb }
  | { readonly kind: "secure" }
  | { readonly kind: "end" };

/** Creates a session at its start. `secured` says whether TLS comes before the greeting (RFC 8314 section 3). */
export function beginSession(secured: boolean): SmtpSession {
  return { phase: "banner", replies: {}, secured };
}

/**
 * Performs one step of a client that sends no mail (RFC 5321 sections 3.1, 3.2, 4.3; RFC 3207): greeting, EHLO or else
 * HELO, STARTTLS if offered, EHLO again, QUIT. Every refusal leads to QUIT.
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
      // After 421 the server closes the connection (section 3.8). Otherwise it may support only HELO (section 3.2).
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
