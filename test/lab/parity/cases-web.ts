import { casesOf, SHORT, type Case, type Row } from "#test/lab/parity/case.ts";

const BROKEN = /Error for HTTP request/;
const BODY = /Failed to read HTTP response body/;
const NOT_CODED = /Failed to (?:get decompressor for|read) HTTP response body/;
const STATUS = /Invalid HTTP response status code/;
const POST = { method: "POST", body: "text" };
const to = (url: string, status = 302): string =>
  `http://{web}/moved/${status}?to=${encodeURIComponent(url).replaceAll("%7B", "{").replaceAll("%7D", "}")}`;

const REDIRECTS: readonly Row[] = [
  ["one redirect", "http://{web}/redirect/1", {}, "success"],
  ["ten redirects", "http://{web}/redirect/10", {}, "success"],
  ["eleven redirects", "http://{web}/redirect/11", {}, STATUS],
  ["a loop", "http://{web}/loop", {}, STATUS],
  ["redirects that are not followed", "http://{web}/redirect/1", { follow_redirects: false }, STATUS],
  ["a valid redirect", "http://{web}/redirect/1", { follow_redirects: false, valid_status_codes: [302] }, "success"],
  ["a valid redirect that is followed", "http://{web}/redirect/1", { valid_status_codes: [302] }, STATUS],
  ...[300, 301, 302, 303, 304, 305, 307, 308].map(
    (status): Row => [
      `status ${status}`,
      to("/echo", status),
      {},
      [300, 304, 305].includes(status) ? STATUS : "success",
    ],
  ),
  ...[301, 302, 303, 307, 308].map((status): Row => [`POST and ${status}`, to("/echo", status), POST, "success"]),
  ["HEAD and 302", to("/echo"), { method: "HEAD" }, "success"],
  ["PUT and 301", to("/echo", 301), { method: "PUT", body: "x" }, "success"],
  ["a relative redirect", to("../echo"), {}, "success"],
  ["a redirect to a query", to("?to=/echo"), {}, "success"],
  ["a redirect without a scheme", to("//{web2}/echo"), {}, "success"],
  ["a redirect with a fragment", to("/echo#there"), {}, "success"],
  ["a redirect with a space", to("/echo/a b"), {}, "success"],
  ["a redirect to another host", to("http://{web2}/echo"), {}, "success"],
  ["a redirect to a name", to("http://localhost:{webport}/echo"), {}, "success"],
  ["a redirect to TLS", to("https://{secure}/echo"), {}, "success"],
  ["a redirect to TLS and fail_if_ssl", to("https://{secure}/echo"), { fail_if_ssl: true }, /over SSL/],
  ["a redirect from TLS", "https://{secure}/moved/302?to=http%3A%2F%2F{web}%2Fecho", {}, "success"],
  [
    "a redirect from TLS and fail_if_not_ssl",
    "https://{secure}/moved/302?to=http%3A%2F%2F{web}%2Fecho",
    { fail_if_not_ssl: true },
    /not over SSL/,
  ],
  ["a redirect from TLS to TLS", "https://{secure}/moved/302?to=/echo", {}, "success"],
  ["a redirect to HTTP/2", to("https://{h2}/bytes/10"), {}, "success"],
  ["a redirect to a bad certificate", to("https://{selfsigned}/ok"), {}, /certificate/],
  ["a redirect to a refused port", to("http://{closed}/"), {}, /connection refused/],
  ["a redirect to silence", to("/silent"), {}, /deadline exceeded/, SHORT],
  ["a redirect to a name that does not exist", to("http://does-not-exist.invalid/"), {}, /no such host|lookup/],
  ["a redirect to another scheme", to("ftp://{web}/ok"), {}, BROKEN],
  ["a redirect to a bad URL", to("http://[::1/%zz"), {}, BROKEN],
  ["a redirect without a location", "http://{web}/nolocation", {}, STATUS],
  ["a redirect to nothing", "http://{web}/emptylocation", {}, STATUS],
  ["a redirect and the Host field", to("/echo"), { headers: { Host: "site.example" } }, "success"],
  ["a redirect and hostname", to("/echo"), {}, "success", { query: { hostname: "site.example" } }],
  ["a cookie without a path", "http://{web}/setcookie/a%3Db", {}, STATUS],
  ["a cookie", "http://{web}/setcookie/a%3Db%3B%20Path%3D%2F", {}, "success"],
  ["a cookie with attributes", "http://{web}/setcookie/a%3Db%3B%20Path%3D%2F%3B%20HttpOnly", {}, "success"],
  ["a cookie of another path", "http://{web}/setcookie/a%3Db%3B%20Path%3D%2Fother", {}, STATUS],
  ["a cookie for TLS alone", "http://{web}/setcookie/a%3Db%3B%20Secure%3B%20Path%3D%2F", {}, STATUS],
  ["a cookie that has expired", "http://{web}/setcookie/a%3Db%3B%20Max-Age%3D0%3B%20Path%3D%2F", {}, STATUS],
  ["a cookie of another domain", "http://{web}/setcookie/a%3Db%3B%20Domain%3Dother.example", {}, STATUS],
];

const COMPRESSION: readonly Row[] = [
  ...(["gzip", "br", "deflate"] as const).flatMap((coding): Row[] => [
    [`${coding} that is expected`, `http://{web}/${coding}`, { compression: coding }, "success"],
    [`${coding} that nobody expects`, `http://{web}/${coding}`, {}, "success"],
    [`no ${coding} where it is expected`, "http://{web}/ok", { compression: coding }, NOT_CODED],
    [`the request for ${coding}`, "http://{web}/echo", { compression: coding }, NOT_CODED],
    [
      `${coding} and a regexp`,
      `http://{web}/${coding}`,
      { compression: coding, fail_if_body_not_matches_regexp: ["^compressed text"] },
      "success",
    ],
  ]),
  ["identity", "http://{web}/ok", { compression: "identity" }, "success"],
  ["the request for identity", "http://{web}/echo", { compression: "identity" }, "success"],
  ["gzip where identity is expected", "http://{web}/gzip", { compression: "identity" }, "success"],
  ["br where gzip is expected", "http://{web}/br", { compression: "gzip" }, NOT_CODED],
  ["x-gzip", "http://{web}/xgzip", { compression: "gzip" }, "success"],
  ["zlib as deflate", "http://{web}/zlib", { compression: "deflate" }, BODY],
  ["gzip that breaks off", "http://{web}/gzipcut", { compression: "gzip" }, BODY],
  ["two members of gzip", "http://{web}/gziptwice", { compression: "gzip" }, "success"],
  ["octets after gzip", "http://{web}/gziptail", { compression: "gzip" }, BODY],
  ["gzip of nothing", "http://{web}/gzipempty", { compression: "gzip" }, NOT_CODED],
  ["plain text marked as gzip", "http://{web}/gzipfalse", { compression: "gzip" }, NOT_CODED],
  ["gzip without the mark", "http://{web}/unmarked", { compression: "gzip" }, "success"],
  [
    "gzip with other codings accepted",
    "http://{web}/gzip",
    { compression: "gzip", headers: { "Accept-Encoding": "br;q=1.0, gzip;q=0.9" } },
    "success",
  ],
  ["gzip and a limit", "http://{web}/gzip", { compression: "gzip", body_size_limit: "100B" }, BODY],
  ["gzip and a redirect", to("/gzip"), { compression: "gzip" }, "success"],
];

const LIMITS: readonly Row[] = [
  ["a body below the limit", "http://{web}/bytes/99", { body_size_limit: "100B" }, "success"],
  ["a body at the limit", "http://{web}/bytes/100", { body_size_limit: "100B" }, "success"],
  ["a body above the limit", "http://{web}/bytes/101", { body_size_limit: "100B" }, BODY],
  ["a body far above the limit", "http://{web}/bytes/500000", { body_size_limit: "1KB" }, BODY],
  ["chunks above the limit", "http://{web}/chunked", { body_size_limit: "5B" }, BODY],
  ["an endless body and a limit", "http://{web}/endless", { body_size_limit: "64KB" }, BODY],
  [
    "a limit and a regexp",
    "http://{web}/bytes/101",
    { body_size_limit: "100B", fail_if_body_not_matches_regexp: ["x"] },
    BODY,
  ],
];

const PROXY = { proxy_url: "http://{proxy}" };
const SKIP = { ...PROXY, skip_resolve_phase_with_proxy: true };
const PROXIES: readonly Row[] = [
  ["a proxy", "http://{web}/echo", PROXY, "success"],
  ["a proxy and TLS", "https://{secure}/echo", PROXY, "success"],
  ["a proxy and HTTP/2", "https://{h2}/bytes/10", PROXY, "success"],
  ["a proxy and a bad certificate", "https://{expired}/ok", PROXY, /certificate has expired/],
  ["a proxy and a name", "http://localhost:{webport}/echo", PROXY, "success"],
  ["a proxy and a name that does not exist", "http://does-not-exist.invalid/", PROXY, /Error resolving address/],
  ["a proxy that looks names up", "http://site.example:{webport}/echo", SKIP, "success"],
  ["a proxy that looks names up and TLS", "https://site.example:{secureport}/echo", SKIP, "success"],
  ["a proxy that cannot reach the target", "http://{closed}/", PROXY, STATUS],
  ["a proxy that cannot reach the target with TLS", "https://{closed}/", PROXY, BROKEN],
  ["a proxy that refuses", "http://{web}/ok", { proxy_url: "http://{proxyrefusing}" }, STATUS],
  ["a proxy that refuses tunnels", "https://{secure}/ok", { proxy_url: "http://{proxyrefusing}" }, BROKEN],
  ["a proxy that closes", "http://{web}/ok", { proxy_url: "http://{proxyclosing}" }, BROKEN],
  ["a proxy that closes tunnels", "https://{secure}/ok", { proxy_url: "http://{proxyclosing}" }, BROKEN],
  ["a proxy that is down", "http://{web}/ok", { proxy_url: "http://{closed}" }, /connection refused/],
  ["a proxy that says nothing", "https://{secure}/ok", { proxy_url: "http://{hush}" }, /deadline exceeded/, SHORT],
  ["a proxy with credentials", "http://{web}/echo", { proxy_url: "http://me:secret@{proxy}" }, "success"],
  ["a tunnel with credentials", "https://{secure}/echo", { proxy_url: "http://me:secret@{proxy}" }, "success"],
  ["a tunnel with wrong credentials", "https://{secure}/echo", { proxy_url: "http://me:wrong@{proxy}" }, BROKEN],
  [
    "proxy_connect_header",
    "https://{secure}/echo",
    { ...PROXY, proxy_connect_header: { "X-Toll": ["unpaid"] } },
    BROKEN,
  ],
  [
    "proxy_connect_header without a tunnel",
    "http://{web}/echo",
    { ...PROXY, proxy_connect_header: { A: ["b"] } },
    "success",
  ],
  ["a proxy and redirects", "http://{web}/redirect/2", PROXY, "success"],
  [
    "skip_resolve_phase_with_proxy without a proxy",
    "http://{web}/echo",
    { skip_resolve_phase_with_proxy: true },
    "success",
  ],
];

const HTTP2: readonly Row[] = [
  ["HTTP/2", "https://{h2}/bytes/10", {}, "success"],
  ["HTTP/2 that is not wanted", "https://{h2}/bytes/10", { enable_http2: false }, "success"],
  ["HTTP/2 alone where it is not wanted", "https://{h2only}/bytes/10", { enable_http2: false }, STATUS],
  ["HTTP/2 alone", "https://{h2only}/bytes/10", {}, "success"],
  ["HTTP/2 and valid_http_versions", "https://{h2}/bytes/10", { valid_http_versions: ["HTTP/2.0"] }, "success"],
  ["HTTP/2 and HTTP/1.1 alone", "https://{h2}/bytes/10", { valid_http_versions: ["HTTP/1.1"] }, /Invalid HTTP version/],
  ["HTTP/2 and a redirect", "https://{h2}/moved", {}, "success"],
  ["HTTP/2 and POST", "https://{h2}/bytes/10", POST, "success"],
  ["HTTP/2 and an error", "https://{h2}/status/500", {}, STATUS],
  ["a stream of HTTP/2 that is reset", "https://{h2reset}/", {}, BROKEN],
  ["HTTP/2 that says GOAWAY", "https://{h2goaway}/", {}, /deadline exceeded|i\/o timeout/, SHORT],
  ["HTTP/2 with a body that is too short", "https://{h2cut}/", {}, BODY, SHORT],
  ["TLS with HTTP/1.1", "https://{secure}/ok", {}, "success"],
  ["TLS by name", "https://localhost:{secureport}/ok", {}, "success"],
  ["TLS with a slow body", "https://{secure}/slowbody", {}, BODY, SHORT],
  ["TLS with a body that breaks off", "https://{secure}/long", {}, BODY],
  ["TLS with an error", "https://{secure}/status/503", {}, STATUS],
];

/** Cases of the prober http: redirects, codings, limits, proxies and HTTP/2. */
export const WEB_CASES: readonly Case[] = casesOf("http", [
  ...REDIRECTS,
  ...COMPRESSION,
  ...LIMITS,
  ...PROXIES,
  ...HTTP2,
]);
