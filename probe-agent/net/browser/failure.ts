import { failed, refused, type Outcome, type Stage } from "#shared/contracts/outcome.ts";
import type { Gate } from "#probe-agent/net/browser/gate.ts";

/** Chromium's errors (net/base/net_error_list.h) with stage, reason and message; the first match counts. */
const REASONS: readonly (readonly [word: RegExp, stage: Stage, reason: string, message: string])[] = [
  [/TIMED_OUT/, "response", "timeout", "the document did not load in time"],
  [/SSL_PROTOCOL|SSL_VERSION/, "tls", "protocol_version", "browser and server support no common TLS version"],
  [/CLIENT_AUTH/, "tls", "certificate_required", "the server requires a client certificate"],
  [/SSL|CERT|ECH/, "tls", "handshake", "the TLS handshake failed"],
  [
    /EMPTY_RESPONSE|CONNECTION_CLOSED|INCOMPLETE/,
    "response",
    "closed",
    "the connection closed before the document arrived",
  ],
  [/CONNECTION_RESET|SOCKET_NOT/, "response", "reset", "the connection was lost"],
  [/TOO_MANY_REDIRECTS/, "response", "too_many_redirects", "too many redirects"],
  [
    /UNSAFE_REDIRECT|UNKNOWN_URL_SCHEME|DISALLOWED_URL/,
    "response",
    "bad_location",
    "the page redirects to something other than a web page",
  ],
  [/ABORTED|INVALID_RESPONSE|BLOCKED/, "response", "no_document", "the response is not a page that a browser can show"],
];

/** Returns why a document did not load: the gate's failure for its destination, otherwise Chromium's error. */
export function documentFailure(error: string, url: string, gate: Pick<Gate, "obstacle">): Outcome<never> {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: "", port: "", protocol: "" };
  // Chromium itself refuses redirects to other schemes and to blocked ports. That is reported as refused too.
  if (/UNSAFE_PORT/.test(error)) return refused;
  const obstacle = gate.obstacle(hostname.replace(/^\[|\]$/g, ""), Number(port || (protocol === "https:" ? 443 : 80)));
  if (obstacle !== null) return obstacle;
  const [, stage, reason, message] = REASONS.find(([word]) => word.test(error)) ?? [];
  return failed(
    stage ?? "response",
    "target",
    reason ?? "protocol_error",
    `${hostname}: ${message ?? "the document did not load"} (${error.replace("net::", "")})`,
  );
}
