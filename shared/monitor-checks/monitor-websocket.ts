import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Lines, Nullable, Url } from "#shared/tools/fields.ts";

/** Form of the name of a subprotocol (RFC 6455 section 4.1). */
export const SUBPROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Opens a WebSocket (RFC 6455) for monitors of type websocket. */
export const monitorWebsocket = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-websocket",
  title: "WebSocket monitor",
  summary: "Whether a server opens a WebSocket, and sends the expected message",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com/socket" },
  params: Type.Object({
    url: Url({ description: "URL with the scheme of its handshake: https for wss, http for ws" }),
    subprotocol: Nullable(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: SUBPROTOCOL.source,
        description: "Subprotocol to ask for, which the server must choose; null for none",
      }),
    ),
    // Unknown to agents of an earlier release, which send none.
    headers: Type.Optional(
      Type.Array(Type.Tuple([Type.String({ maxLength: 256 }), Type.String({ maxLength: 8_192 })]), {
        maxItems: 50,
        description: "Header fields of the handshake as pairs of name and value. Without Origin it has that of the url",
      }),
    ),
    send: Nullable(
      Lines({ minLength: 1, maxLength: 8_192, description: "Text message to send once it is open; null for none" }),
    ),
    expect: Nullable(
      Lines({
        minLength: 1,
        maxLength: 1_000,
        description: "Text that one of the messages in the first 64 KB must contain; null: not to wait for a message",
      }),
    ),
    ...REPORT_PARAMS,
  }),
});
