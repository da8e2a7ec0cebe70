import { Type, type Static } from "typebox";
import { monitorWebsocket, SUBPROTOCOL } from "#shared/monitor-checks/monitor-websocket.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { CommonDraft } from "#control-plane/outages/kinds/common.ts";
import { certificateOf } from "#control-plane/outages/kinds/expiring.ts";
import { OPTIONS, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { expectedSchema, mergeWithSent, sentSchema } from "#control-plane/outages/kinds/sent-text.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** The subprotocol, and the message that must arrive. */
interface WebsocketSettings {
  readonly subprotocol: string | null;
  /** Text message that is sent, which can hold a token; null: none. */
  readonly send: string | null;
  /** Text of a message; null: no message is awaited. */
  readonly expect: string | null;
}

const SCHEMA = Nullable(
  Type.Object(
    {
      subprotocol: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: "Subprotocol to ask for, which the server must choose. Default: null, none",
            ...asked("Subprotocol", "what"),
          }),
        ),
      ),
      send: sentSchema({
        description: "Text message that is sent once the WebSocket is open.",
        ...asked("Message to send", "request", { hint: "Stored encrypted, shown as ****" }),
      }),
      expect: expectedSchema({
        description:
          "Text that one of the messages in the first 64 KB must contain. Default: null, no message is awaited",
        ...asked("Text that a message has", "expect", { input: "text" }),
      }),
    },
    {
      additionalProperties: false,
      examples: [{ subprotocol: "graphql-transport-ws", expect: "connection_ack" }],
      description: "websocket: the subprotocol and the expected message. Omitted parts keep their values",
    },
  ),
);

const DEFAULTS: WebsocketSettings = { subprotocol: null, send: null, expect: null };

const handshake = (code: string) => ({ code, headline: "WebSocket handshake failed", shows: "words" }) as const;

const missing = (code: string) =>
  ({ code, headline: "expected answer missing", shows: "words", isMeasured: true }) as const;

/** A server that opens a WebSocket. */
export const websocket = {
  ...PROBED,
  label: "WebSocket",
  watches: "a WebSocket",
  target: {
    label: "Address",
    hint: "Such as wss://example.com/socket",
    form: "a ws:// or wss:// URL",
    port: "url",
    ruledPart: (url) => handshakeUrl(url) ?? url,
  },
  fields: ["request_headers"],
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    defaults: () => DEFAULTS,
    secretTexts: ["send"],
    read: (given, present, defaults) =>
      mergeWithSent(given as Static<typeof SCHEMA>, present, defaults, "websocket", ["send"]),
    isNewStart: (before, after) => JSON.stringify(before) !== JSON.stringify(after),
  },
  findConflict: (draft, options) => findWebsocketConflict(draft, options ?? DEFAULTS),
  expires: (url) => certificateOf(handshakeUrl(url) ?? "", null),
  evidence: { ...PROBED.evidence, splitsUrl: true },
  probe: {
    ...PROBE,
    contract: monitorWebsocket,
    secretParams({ request_headers: { send = null, ...headers }, body: _none }) {
      return { send, headers: Object.entries(headers) };
    },
    params(url, _settings, options) {
      const { subprotocol, expect } = options ?? DEFAULTS;
      return { url: handshakeUrl(url), subprotocol, send: null, expect };
    },
  },
  words: {
    ...PROBED.words,
    causes: {
      "response not_websocket": handshake("response_not_websocket"),
      "response wrong_accept_key": handshake("response_wrong_accept_key"),
      "response unwanted_extension": handshake("response_unwanted_extension"),
      "response subprotocol_refused": handshake("response_subprotocol_refused"),
      "response websocket_closed": { code: "response_websocket_closed", headline: "WebSocket closed", shows: "words" },
      "response text_missing": missing("response_text_missing"),
      "response too_much_data": missing("response_too_much_data"),
      "response closed": missing("response_closed"),
      "response reset": missing("response_reset"),
      "response timeout": missing("timeout"),
    },
  },
} as const satisfies Kind<WebsocketSettings>;

/** Returns the URL of the handshake, with the scheme https for wss and http for ws; null for other schemes. */
function handshakeUrl(url: string): string | null {
  const [, scheme, rest = ""] = /^ *(wss?):(\/\/.*)$/is.exec(url) ?? [];
  return scheme === undefined ? null : `${scheme.toLowerCase() === "wss" ? "https" : "http"}:${rest}`;
}

function findWebsocketConflict(
  { url, request_headers: headers }: CommonDraft,
  { subprotocol }: WebsocketSettings,
): FieldProblem | null {
  if (handshakeUrl(url) === null) return problem("url", "type", "must be a ws:// or wss:// URL");
  for (const name of Object.keys(headers)) {
    const field = `request_headers.${name}`;
    if (/^sec-websocket-/i.test(name)) return problem(field, "unknown", "cannot be set: it belongs to the handshake");
    // The stored secrets of a monitor have one name each.
    if (/^send$/i.test(name)) return problem(field, "unknown", "cannot be set: websocket.send has this name");
  }
  if (subprotocol === null || SUBPROTOCOL.test(subprotocol)) return null;
  return problem("websocket.subprotocol", "type", "must be a token: letters, digits and !#$%&'*+-.^_`|~");
}
