import { casesOf, type Case, type Row } from "#test/lab/parity/case.ts";

const REQUESTS: readonly Row[] = [
  ["POST without a body", "http://{web}/echo", { method: "POST" }, "success"],
  ["POST with a body", "http://{web}/echo", { method: "POST", body: "a=b&ü" }, "success"],
  ["GET with a body", "http://{web}/echo", { body: "text" }, "success"],
  ["PUT", "http://{web}/echo", { method: "PUT", body: "{}" }, "success"],
  ["OPTIONS", "http://{web}/echo", { method: "OPTIONS" }, "success"],
  ["a method in small letters", "http://{web}/echo", { method: "get" }, "success"],
  ["a method with a space", "http://{web}/echo", { method: "GE T" }, /invalid method/, { refused: "it is no method" }],
  ["fields", "http://{web}/echo", { headers: { "x-first": "1", "X-Second": "two words", Accept: "a/b" } }, "success"],
  ["Host", "http://{web}/echo", { headers: { Host: "site.example" } }, "success"],
  ["host in small letters", "http://{web}/echo", { headers: { host: "site.example" } }, "success"],
  ["User-Agent", "http://{web}/echo", { headers: { "User-Agent": "me" } }, "success"],
  ["Accept-Encoding", "http://{web}/echo", { headers: { "Accept-Encoding": "gzip" } }, "success"],
  ["Content-Type", "http://{web}/echo", { method: "POST", body: "{}", headers: { "Content-Type": "a/b" } }, "success"],
  ["Connection", "http://{web}/echo", { headers: { Connection: "close" } }, "success"],
  ["Cookie", "http://{web}/echo", { headers: { Cookie: "a=b" } }, "success"],
  ["hostname", "http://{web}/echo", {}, "success", { query: { hostname: "site.example" } }],
  ["hostname and TLS", "https://{secure}/echo", {}, "success", { query: { hostname: "site.example" } }],
  [
    "a wrong hostname and TLS",
    "https://{secure}/echo",
    {},
    /certificate is valid/,
    { query: { hostname: "no.example" } },
  ],
  [
    "hostname with another Host",
    "http://{web}/echo",
    { headers: { Host: "other.example" } },
    400,
    { query: { hostname: "site.example" } },
  ],
  [
    "hostname with the same Host",
    "http://{web}/echo",
    { headers: { Host: "site.example" } },
    "success",
    { query: { hostname: "site.example" } },
  ],
  ["basic_auth", "http://{web}/echo", { basic_auth: { username: "me", password: "pä:ss" } }, "success"],
  [
    "basic_auth of a file",
    "http://{web}/echo",
    { basic_auth: { username: "me", password_file: "{basic}" } },
    "success",
  ],
  [
    "basic_auth of a missing file",
    "http://{web}/echo",
    { basic_auth: { username: "me", password_file: "{gonesecret}" } },
    /no such file/,
  ],
  ["bearer_token", "http://{web}/echo", { bearer_token: "abc" }, "success"],
  ["bearer_token_file", "http://{web}/echo", { bearer_token_file: "{token}" }, "success"],
  ["authorization", "http://{web}/echo", { authorization: { credentials: "abc" } }, "success"],
  ["authorization of a type", "http://{web}/echo", { authorization: { type: "Token", credentials: "abc" } }, "success"],
  ["authorization of a file", "http://{web}/echo", { authorization: { credentials_file: "{token}" } }, "success"],
  [
    "basic_auth and Authorization",
    "http://{web}/echo",
    { basic_auth: { username: "me", password: "x" }, headers: { Authorization: "Mine y" } },
    "success",
  ],
  [
    "basic_auth over redirects",
    "http://{web}/moved/302?to=/echo",
    { basic_auth: { username: "me", password: "x" } },
    "success",
  ],
  ["bearer_token to another host", "http://{web}/moved/302?to=http://{web2}/echo", { bearer_token: "abc" }, "success"],
  [
    "headers to another host",
    "http://{web}/moved/302?to=http://{web2}/echo",
    { headers: { Authorization: "x y", "X-Key": "k", Host: "site.example", Cookie: "c=d" } },
    "success",
  ],
];

const oauth = (route: string, more: object = {}) => ({
  oauth2: { client_id: "id", client_secret: "s:ecret", token_url: `http://{web}/token/${route}`, ...more },
});
const OAUTH: readonly Row[] = [
  ["oauth2", "http://{web}/echo", oauth("plain"), "success"],
  [
    "oauth2 with scopes and parameters",
    "http://{web}/echo",
    oauth("more", { scopes: ["a", "b c"], endpoint_params: { audience: "me&you" } }),
    "success",
  ],
  ["oauth2 with a token server that wants the secret in the body", "http://{web}/echo", oauth("inbody"), "success"],
  ["oauth2 that is refused", "http://{web}/echo", oauth("refused"), /cannot fetch token: 401/],
  ["oauth2 with a broken answer", "http://{web}/echo", oauth("broken"), /invalid character/],
  ["oauth2 without a token", "http://{web}/echo", oauth("empty"), /missing access_token/],
  ["oauth2 with a refused port", "http://{web}/echo", oauth("x", { token_url: "http://{closed}/" }), /refused/],
  ["oauth2 by a proxy", "http://{web}/echo", oauth("proxied", { proxy_url: "http://{proxy}" }), "success"],
  [
    "oauth2 with a bad certificate",
    "http://{web}/echo",
    oauth("x", { token_url: "https://{expired}/token/x" }),
    /certificate has expired/,
  ],
  [
    "oauth2 with a bad certificate that nobody verifies",
    "http://{web}/echo",
    oauth("x", { token_url: "https://{expired}/token/x", tls_config: { insecure_skip_verify: true } }),
    "success",
  ],
  ["oauth2 over redirects", "http://{web}/moved/302?to=http://{web2}/echo", oauth("moved"), "success"],
  [
    "oauth2 with a secret in a file",
    "http://{web}/echo",
    { oauth2: { client_id: "id", client_secret_file: "{basic}", token_url: "http://{web}/token/file" } },
    "success",
  ],
];

/** Cases of the prober http: what is sent. */
export const REQUEST_CASES: readonly Case[] = casesOf("http", [...REQUESTS, ...OAUTH]);
