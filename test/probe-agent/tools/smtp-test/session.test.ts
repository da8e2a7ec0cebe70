import { describe, expect, it } from "vitest";
import type { SmtpReply } from "#probe-agent/port/smtp.ts";
import { advance, beginSession, type SmtpEvent } from "#probe-agent/tools/smtp-test/session.ts";

function reply(code: number, ...lines: string[]): SmtpEvent {
  const said: SmtpReply = { code, lines, omitted: 0, faults: [] };
  return { kind: "reply", reply: said };
}

/** Returns the action of the client after each event. */
function play(events: readonly SmtpEvent[], implicit = false): string[] {
  let session = beginSession(implicit);
  return events.map((event) => {
    const next = advance(session, event);
    session = next.session;
    return next.action.kind === "send" ? next.action.verb : next.action.kind;
  });
}

const WELCOME = reply(220, "a.example ESMTP");
const WITH_TLS = reply(250, "a.example", "STARTTLS");
const WITHOUT_TLS = reply(250, "a.example", "SIZE");
const SECURED: SmtpEvent = { kind: "secured" };
const LOST: SmtpEvent = { kind: "lost" };

describe("a client that sends no mail", () => {
  it.each([
    [
      "with STARTTLS",
      [WELCOME, WITH_TLS, reply(220), SECURED, WITHOUT_TLS, reply(221)],
      ["EHLO", "STARTTLS", "secure", "EHLO", "QUIT", "end"],
    ],
    ["without it", [WELCOME, WITHOUT_TLS, reply(221)], ["EHLO", "QUIT", "end"]],
    ["which is refused", [WELCOME, WITH_TLS, reply(454), reply(221)], ["EHLO", "STARTTLS", "QUIT", "end"]],
    ["which fails", [WELCOME, WITH_TLS, reply(220), LOST], ["EHLO", "STARTTLS", "secure", "end"]],
    [
      "which is offered again",
      [WELCOME, WITH_TLS, reply(220), SECURED, WITH_TLS, reply(221)],
      ["EHLO", "STARTTLS", "secure", "EHLO", "QUIT", "end"],
    ],
    ["refused in the greeting", [reply(554), reply(221)], ["QUIT", "end"]],
    ["refused with 421", [reply(421), LOST], ["QUIT", "end"]],
    ["refused with an unknown code", [reply(520), reply(221)], ["QUIT", "end"]],
    ["by HELO", [WELCOME, reply(502), reply(250), reply(221)], ["EHLO", "HELO", "QUIT", "end"]],
    ["by neither", [WELCOME, reply(550), reply(550), reply(500)], ["EHLO", "HELO", "QUIT", "end"]],
    ["refused with 421 at EHLO", [WELCOME, reply(421)], ["EHLO", "QUIT"]],
    ["disconnected", [WELCOME, LOST], ["EHLO", "end"]],
  ])("%s", (_name, events, actions) => {
    expect(play(events)).toEqual(actions);
  });

  it("does not send STARTTLS under implicit TLS", () => {
    expect(play([WELCOME, WITH_TLS, reply(221)], true)).toEqual(["EHLO", "QUIT", "end"]);
  });

  it("sends no other command after any replies", () => {
    const codes = [220, 250, 221, 235, 334, 354, 421, 454, 500, 502, 550, 554, 999];
    const said = new Set<string>();
    const walk = (events: readonly SmtpEvent[]): void => {
      for (const action of play(events)) said.add(action);
      if (events.length < 4)
        for (const code of codes) walk([...events, reply(code, "a.example", "STARTTLS", "AUTH PLAIN")]);
    };
    walk([]);
    expect([...said].toSorted()).toEqual(["EHLO", "HELO", "QUIT", "STARTTLS", "end", "secure"]);
  });
});
