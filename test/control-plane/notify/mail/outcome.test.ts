import { describe, expect, it } from "vitest";
import { toOutcome } from "#control-plane/notify/mail/outcome.ts";
import type { SmtpStage } from "#shared/process/smtp-result.ts";

describe("the outcome of a mail", () => {
  it.each<[SmtpStage, number | null, "retry" | "refused", string]>([
    ["connect", null, "retry", "smtp_unreachable"],
    ["tls", null, "retry", "smtp_tls"],
    ["tls", 454, "retry", "smtp_tls"],
    ["greeting", 554, "retry", "smtp_greeting"],
    ["auth", 535, "retry", "smtp_auth"],
    ["auth", null, "retry", "smtp_auth"],
    ["sender", 451, "retry", "smtp_sender_refused"],
    ["sender", 550, "retry", "smtp_sender_refused"],
    ["recipient", 450, "retry", "smtp_recipient_refused"],
    ["recipient", 550, "refused", "smtp_recipient_refused"],
    ["recipient", 530, "retry", "smtp_recipient_refused"],
    ["recipient", 503, "retry", "smtp_recipient_refused"],
    ["message", 421, "retry", "smtp_message_refused"],
    ["message", 554, "refused", "smtp_message_refused"],
    ["lost", null, "retry", "smtp_connection_lost"],
  ])("at %s with %s is %s", (stage, replyCode, kind, code) => {
    const outcome = toOutcome({ ok: false, fault: { stage, replyCode, text: `${replyCode} no` } });
    expect(outcome).toMatchObject({ kind, code, responseCode: replyCode });
  });

  it("has the server's reply as one printable line, cut", () => {
    const text = `550 5.1.1 <a@b.example>\r\n550 ${"x".repeat(10_000)}\u202e`;
    const outcome = toOutcome({ ok: false, fault: { stage: "recipient", replyCode: 550, text } });
    if (outcome.kind !== "refused") throw new Error(outcome.kind);
    expect(outcome.message).toMatch(
      /^The mail server refused the recipient\. Reply: 550 5\.1\.1 <a@b\.example> 550 x+…$/,
    );
    expect(outcome.message.length).toBeLessThan(400);
  });

  it("does not repeat a reply to a password", () => {
    const outcome = toOutcome({ ok: false, fault: { stage: "auth", replyCode: 535, text: "535 bad hunter2" } });
    expect(JSON.stringify(outcome)).not.toContain("hunter2");
  });
});
