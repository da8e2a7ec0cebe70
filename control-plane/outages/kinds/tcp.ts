import { Type, type Static } from "typebox";
import {
  findDialogueProblem,
  isSendLimited,
  monitorTcp,
  TCP_PRESETS,
  TCP_TLS,
  type TcpDialogue,
} from "#shared/monitor-checks/monitor-tcp.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { certificateOf } from "#control-plane/outages/kinds/expiring.ts";
import { OPTIONS, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { expectedSchema, mergeWithSent, sentSchema } from "#control-plane/outages/kinds/sent-text.ts";
import { hostAndPort, readServerTarget } from "#control-plane/outages/kinds/server-target.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** The dialogue of a tcp monitor. */
export interface TcpSettings {
  readonly preset: TcpDialogue["preset"];
  /** Text that is sent, which can hold a password; null: nothing. */
  readonly send: string | null;
  /** Octets that are sent instead of the text, in hexadecimal; null: none. */
  readonly send_hex: string | null;
  /** Text that the first 64 KB must contain; null: the connection is enough. */
  readonly expect: string | null;
  readonly tls: TcpDialogue["tls"];
  /** Whether the rule on texts to ports of dialogues applies; it does not to monitors of before, until they are edited. */
  readonly send_limited: boolean;
}

const FIELDS = {
  preset: Type.Optional(
    Nullable(
      Type.Enum([...TCP_PRESETS], {
        description:
          "Protocol whose greeting and answer are checked: smtp (220, EHLO), imap (* OK), ftp (220), ssh " +
          "(SSH-2.0), redis (PING; a server that asks for a password is up). Default: null, none",
        ...asked("Protocol", "what"),
      }),
    ),
  ),
  send: sentSchema({
    description: "Text that is sent as it is, without preset; end lines with \\r\\n where the protocol does.",
    ...asked("Text to send", "request", { hint: "Stored encrypted, shown as ****" }),
  }),
  send_hex: sentSchema({
    maxLength: 24_576,
    description: "Bytes that are sent instead of send, in hexadecimal, such as 05 01 00, without preset.",
    ...asked("Bytes to send instead", "request", {
      hint: "In hexadecimal, such as 05 01 00. Stored encrypted, shown as ****",
    }),
  }),
  expect: expectedSchema({
    description:
      "Text that the first 64 KB of the server must contain, without preset. Default: null, the connection is enough",
    ...asked("Text that the answer has", "expect", { input: "text" }),
  }),
  tls: Type.Optional(
    Type.Enum([...TCP_TLS], {
      description:
        "none; implicit: TLS with the first byte; starttls: by the command of smtp, imap or ftp. A certificate " +
        "that is not trusted is down. Default: none",
      ...asked("TLS", "what"),
    }),
  ),
};

const SCHEMA = Nullable(
  Type.Object(FIELDS, {
    additionalProperties: false,
    examples: [{ preset: "smtp", tls: "starttls" }],
    description: "tcp: the dialogue over the connection. Omitted parts keep their values",
  }),
);

/** The dialogue in responses. */
export const SHOWN_TCP = Nullable(
  Type.Object(
    {
      ...FIELDS,
      send_limited: Type.Optional(
        Type.Boolean({
          description:
            "Whether send is sent to ports of mail, news and files only where an agent's operator allows it. false: a " +
            "monitor of an earlier release whose url and send have not changed since. Writes ignore it",
        }),
      ),
    },
    { description: "tcp: the dialogue over the connection; null for other check types" },
  ),
);

const DEFAULTS: TcpSettings = {
  preset: null,
  send: null,
  send_hex: null,
  expect: null,
  tls: "none",
  send_limited: false,
};

/** The options that are sent to the server. */
const SENT = ["send", "send_hex"] as const;

/** Ports of the protocols, without TLS from the first octet and with it (IANA, Service Name and Port Number Registry). */
const PORTS: Readonly<Record<(typeof TCP_PRESETS)[number], { readonly plain: number; readonly implicit: number }>> = {
  smtp: { plain: 25, implicit: 465 },
  imap: { plain: 143, implicit: 993 },
  ftp: { plain: 21, implicit: 990 },
  ssh: { plain: 22, implicit: 22 },
  redis: { plain: 6_379, implicit: 6_379 },
};

const MISSING = "expected answer missing";
const words = (code: string, headline: string) => ({ code, headline, shows: "words", isMeasured: true }) as const;

/** A server that answers as its protocol, or its user, expects. */
export const tcp = {
  ...PROBED,
  label: "TCP",
  watches: "the answer of a TCP server",
  target: {
    label: "Host and port",
    hint: "Such as mail.example.com:25. A protocol below has a port of its own",
    form: "a host, host:port or tcp:// URL; with tcp.preset the default port is that of the protocol",
    port: "url",
    ruledPart: (url) => readTarget(url)?.host ?? url,
  },
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    defaults: () => DEFAULTS,
    readOnly: ["send_limited"],
    secretTexts: SENT,
    originFields: ["tls"],
    sendRule: { limitedHost, applied: (options) => ({ ...options, send_limited: true }) },
    read: (given, present, defaults) => mergeWithSent(given as Static<typeof SCHEMA>, present, defaults, "tcp", SENT),
    isNewStart: (before, after) => JSON.stringify(before) !== JSON.stringify(after),
  },
  expires(url, _settings, options) {
    const target = readTarget(url);
    const port = target?.port ?? defaultPort(options ?? DEFAULTS);
    if (target === null || port === null || options?.tls !== "implicit") return [];
    return certificateOf(hostAndPort(target.host, port), null);
  },
  findConflict: ({ url }, options) => findTcpConflict(url, options ?? DEFAULTS),
  evidence: { ...PROBED.evidence, splitsUrl: true },
  probe: {
    ...PROBE,
    contract: monitorTcp,
    secretParams: ({ request_headers: { send = null, send_hex = null } }) => ({ send, send_hex }),
    params(url, _settings, options) {
      const { preset, expect, tls, send_limited } = options ?? DEFAULTS;
      const target = readTarget(url);
      const port = target?.port ?? defaultPort(options ?? DEFAULTS);
      if (target === null || port === null) throw new Error("the target of a tcp monitor cannot be read");
      return { host: target.host, port, preset, send: null, send_hex: null, expect, tls, send_limited };
    },
  },
  words: {
    ...PROBED.words,
    causes: {
      "response unexpected_answer": words("response_unexpected_answer", "unexpected answer"),
      "response text_missing": words("response_text_missing", MISSING),
      "response closed": words("response_closed", MISSING),
      "response reset": words("response_reset", MISSING),
      "response timeout": words("timeout", MISSING),
      "tls no_starttls": { code: "tls_no_starttls", headline: "STARTTLS not offered", shows: "nothing" },
      "tls starttls_injection": words("tls_starttls_injection", "STARTTLS not safe"),
    },
  },
} as const satisfies Kind<TcpSettings>;

function readTarget(url: string) {
  return readServerTarget(url, ["tcp"]);
}

/** Returns the port of a protocol; null without a preset. */
function defaultPort({ preset, tls }: TcpSettings): number | null {
  return preset === null ? null : PORTS[preset][tls === "implicit" ? "implicit" : "plain"];
}

/** Returns the host of a text to a port of dialogues; null if there is no text, or another port. */
function limitedHost(url: string, { send, send_hex }: TcpSettings): string | null {
  const target = readTarget(url);
  // Settings of an earlier release have no send_hex.
  const isSent = typeof (send ?? send_hex) === "string";
  return isSent && target?.port != null && isSendLimited(target.port) ? target.host : null;
}

function findTcpConflict(url: string, options: TcpSettings): FieldProblem | null {
  const wrong = findDialogueProblem(options);
  if (wrong !== null) return problem(`tcp.${wrong.field}`, wrong.reason, wrong.message);
  const target = readTarget(url);
  if (target === null)
    return problem("url", "type", "must be a host, host:port or tcp:// URL without user name and path");
  if (target.port !== null || options.preset !== null) return null;
  return problem("url", "required", "must have a port, such as example.com:4222, without tcp.preset");
}
