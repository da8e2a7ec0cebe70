import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host, Lines, Nullable } from "#shared/tools/fields.ts";

/** Protocols whose greeting, question and answer a check knows. */
export const TCP_PRESETS = ["smtp", "imap", "ftp", "ssh", "redis"] as const;
/** When TLS begins: never, by the protocol's own command, or with the first octet. */
export const TCP_TLS = ["none", "starttls", "implicit"] as const;
/** Maximum number of octets that are searched for the expected text. */
export const MOST_SEARCHED_BYTES = 65_536;

/** What a check says over a connection, and what it expects. */
export interface TcpDialogue {
  readonly preset: (typeof TCP_PRESETS)[number] | null;
  /** Sent as it is, in UTF-8. null: nothing. */
  readonly send: string | null;
  /** Octets that are sent instead, in hexadecimal, with spaces between them where people like. null: none. */
  readonly send_hex?: string | null | undefined;
  /** Text that must arrive. null: the connection is enough. */
  readonly expect: string | null;
  readonly tls: (typeof TCP_TLS)[number];
}

/** Ports of mail, news and files, whose protocols are dialogues of lines: a text can be a whole one, such as a mail. */
const DIALOGUE_PORTS: ReadonlySet<number> = new Set([21, 24, 25, 110, 119, 143, 366, 465, 587, 993, 995, 2525, 2526]);

/**
 * Reports whether a text is sent to a port only within the ranges that the operator of an agent allows
 * (VANTAGE_ALLOW_TARGETS): elsewhere anybody could send mail by it.
 */
export function isSendLimited(port: number): boolean {
  return DIALOGUE_PORTS.has(port);
}

/** Octets in hexadecimal, with white space between them. */
const HEX = /^\s*(?:[0-9a-f]{2}\s*)*$/i;

/** Returns the octets that a dialogue sends; null: none. */
export function sentOctets({ send, send_hex: hex = null }: Pick<TcpDialogue, "send" | "send_hex">): Buffer | null {
  if (send !== null) return Buffer.from(send);
  return hex === null ? null : Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
}

/** How TLS can begin, by protocol. SSH encrypts by itself, Redis has no command for it. */
const TLS_OF: Readonly<Record<(typeof TCP_PRESETS)[number], readonly string[]>> = {
  smtp: TCP_TLS,
  imap: TCP_TLS,
  ftp: TCP_TLS,
  ssh: ["none"],
  redis: ["none", "implicit"],
};

/** Returns the first field of a dialogue that does not fit to its preset; null if all do. */
export function findDialogueProblem({
  preset,
  send,
  send_hex: hex = null,
  expect,
  tls,
}: TcpDialogue): FieldProblem | null {
  if (hex !== null && !HEX.test(hex)) {
    return { field: "send_hex", reason: "type", message: "must be bytes of two hexadecimal digits, such as 05 01 00" };
  }
  if (hex !== null && send !== null) {
    return { field: "send_hex", reason: "type", message: "must be null with send: give one of the two" };
  }
  if (preset === null) {
    if (tls !== "starttls") return null;
    return { field: "tls", reason: "enum", message: "must be none or implicit without preset: starttls needs one" };
  }
  const said = send !== null ? "send" : hex !== null ? "send_hex" : expect === null ? null : "expect";
  if (said !== null) {
    return { field: said, reason: "type", message: `must be null with preset ${preset}, which has its own dialogue` };
  }
  const allowed = TLS_OF[preset];
  if (allowed.includes(tls)) return null;
  return { field: "tls", reason: "enum", message: `must be ${allowed.join(" or ")} with preset ${preset}` };
}

/** Talks to a TCP server for monitors of type tcp. */
export const monitorTcp = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-tcp",
  title: "TCP monitor",
  summary: "Whether a TCP server answers as its protocol, or the monitor, expects",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com", port: 25 },
  params: Type.Object({
    host: Host({ description: "Host or IP address" }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port" }),
    preset: Nullable(
      Type.Enum([...TCP_PRESETS], { description: "Protocol with a dialogue of its own; null for send and expect" }),
    ),
    send: Nullable(
      Lines({ minLength: 1, maxLength: 8_192, description: "Text to send, as it is, in UTF-8; null for none" }),
    ),
    // Unknown to agents of an earlier release, which send nothing.
    send_hex: Type.Optional(
      Nullable(Lines({ minLength: 1, maxLength: 24_576, description: "Octets to send instead, in hexadecimal" })),
    ),
    expect: Nullable(
      Lines({
        minLength: 1,
        maxLength: 1_000,
        description: "Text that the first 64 KB must contain, in UTF-8 or Latin-1; null for none",
      }),
    ),
    tls: Type.Enum([...TCP_TLS], {
      description: "none; starttls: by the command of smtp, imap or ftp; implicit: from the first octet",
    }),
    // Missing in the jobs of a control plane of an earlier release.
    send_limited: Type.Optional(
      Type.Boolean({ description: "Send no text to a port of mail, news or files outside the agent's allowed ranges" }),
    ),
    ...REPORT_PARAMS,
  }),
  refine: (params) => findDialogueProblem(params),
});
