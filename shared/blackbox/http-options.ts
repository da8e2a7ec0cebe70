import {
  ADDRESS_CHOICE,
  expression,
  expressions,
  parseSize,
  readableFile,
  secretOf,
  tlsConfig,
} from "#shared/blackbox/shared-options.ts";
import {
  choice,
  flag,
  list,
  named,
  optional,
  parsed,
  section,
  text,
  unsupported,
  whole,
  type Field,
  type Spot,
} from "#shared/blackbox/fields.ts";
import type { HeaderMatch, HttpOptions, Oauth2Options, ProxyOptions, Secret } from "#shared/blackbox/module.ts";

/** A token (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** A field value (RFC 9110 section 5.5) without control characters. */
const FIELD_VALUE = /^[^\p{Cc}]{0,8192}$/u;

const absoluteUrl = parsed(
  "an http:// or https:// URL",
  (value) => (/^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined),
  null,
);

const PROXY = {
  proxy_url: absoluteUrl,
  no_proxy: text(""),
  proxy_from_environment: flag(false),
  proxy_connect_header: named(list(text(""), 20), 20),
};

function proxyOf(read: ProxyOptions, spot: Spot): ProxyOptions {
  const { proxy_url: url, no_proxy: exceptions, proxy_from_environment: fromEnvironment } = read;
  if (fromEnvironment && (url !== null || exceptions !== "")) {
    spot.fault("has proxy_from_environment, so it must not have proxy_url or no_proxy");
  }
  if (exceptions !== "" && url === null && !fromEnvironment) spot.fault("has no_proxy, so it needs proxy_url");
  return {
    proxy_url: url,
    no_proxy: exceptions,
    proxy_from_environment: fromEnvironment,
    proxy_connect_header: read.proxy_connect_header,
  };
}

const basicAuth: Field<HttpOptions["basic_auth"]> = optional(
  section(
    { username: text(""), username_file: readableFile, password: text(null), password_file: readableFile },
    (read, spot) => {
      if (read.username !== "" && read.username_file !== null)
        spot.fault("has both username and username_file: keep one of them");
      const username: Secret = read.username_file === null ? { text: read.username } : { file: read.username_file };
      const password = secretOf(read.password, read.password_file, "password and password_file", spot);
      return { username, password: password ?? { text: "" } };
    },
  ),
);

const authorization: Field<HttpOptions["authorization"]> = optional(
  section({ type: text("Bearer"), credentials: text(null), credentials_file: readableFile }, (read, spot) => {
    if (read.type.toLowerCase() === "basic") spot.fault("must not have the type basic: use basic_auth");
    if (!TOKEN.test(read.type)) spot.fault("must have a type that is one word");
    const credentials = secretOf(read.credentials, read.credentials_file, "credentials and credentials_file", spot);
    return { type: read.type, credentials: credentials ?? { text: "" } };
  }),
);

const oauth2: Field<Oauth2Options | null> = optional(
  section(
    {
      client_id: text(""),
      client_secret: text(null),
      client_secret_file: readableFile,
      scopes: list(text(""), 100),
      token_url: absoluteUrl,
      endpoint_params: named(text(""), 100),
      tls_config: tlsConfig,
      ...PROXY,
    },
    (read, spot) => {
      if (read.client_id === "") spot.fault("needs a client_id");
      if (read.token_url === null) spot.fault("needs a token_url");
      const secret = secretOf(
        read.client_secret,
        read.client_secret_file,
        "client_secret and client_secret_file",
        spot,
      );
      return {
        client_id: read.client_id,
        client_secret: secret ?? { text: "" },
        scopes: read.scopes,
        token_url: read.token_url ?? "",
        endpoint_params: read.endpoint_params,
        tls_config: read.tls_config,
        proxy: proxyOf(read, spot),
      };
    },
  ),
);

const headerMatches = list<HeaderMatch>(
  section({ header: text(""), regexp: expression, allow_missing: flag(false) }, (read, spot, given) => {
    if (read.header === "") spot.fault("needs a header");
    if (!given.has("regexp")) spot.fault("needs a regexp");
    return read;
  }),
);

const CEL = "use fail_if_body_matches_regexp or fail_if_body_not_matches_regexp";

/** Options of the prober http. */
export const httpOptions: Field<HttpOptions> = section(
  {
    ...ADDRESS_CHOICE,
    valid_status_codes: list(whole(100, 999, 200)),
    valid_http_versions: list(text(""), 20),
    method: parsed(
      "a method such as GET",
      (value) => (value === "" ? "GET" : TOKEN.test(value) ? value : undefined),
      "GET",
    ),
    headers: named(text(""), 200),
    body_size_limit: parsed("a size such as 10MB", parseSize, 0),
    compression: choice(["", "gzip", "br", "deflate", "identity"], ""),
    follow_redirects: flag(null),
    no_follow_redirects: flag(null),
    fail_if_ssl: flag(false),
    fail_if_not_ssl: flag(false),
    fail_if_body_json_matches_cel: unsupported(CEL),
    fail_if_body_json_not_matches_cel: unsupported(CEL),
    fail_if_body_matches_regexp: expressions,
    fail_if_body_not_matches_regexp: expressions,
    fail_if_header_matches: headerMatches,
    fail_if_header_not_matches: headerMatches,
    tls_config: tlsConfig,
    basic_auth: basicAuth,
    authorization,
    bearer_token: text(null),
    bearer_token_file: readableFile,
    oauth2,
    ...PROXY,
    skip_resolve_phase_with_proxy: flag(false),
    enable_http2: flag(true),
    enable_http3: unsupported("remove it; HTTP/1 and HTTP/2 are probed"),
    http_headers: unsupported("write the fields in headers"),
    body: text(null),
    body_file: readableFile,
  },
  (read, spot) => {
    checkHeaders(read.headers, read.compression, spot);
    const bearer = secretOf(read.bearer_token, read.bearer_token_file, "bearer_token and bearer_token_file", spot);
    const ways = [read.basic_auth, read.authorization, bearer, read.oauth2].filter((way) => way !== null);
    if (ways.length > 1) spot.fault("must have at most one of basic_auth, authorization, bearer_token and oauth2");
    return {
      preferred_ip_protocol: read.preferred_ip_protocol,
      ip_protocol_fallback: read.ip_protocol_fallback,
      valid_status_codes: read.valid_status_codes,
      valid_http_versions: read.valid_http_versions,
      method: read.method,
      headers: read.headers,
      body_size_limit: read.body_size_limit,
      compression: read.compression,
      follow_redirects: read.no_follow_redirects === null ? (read.follow_redirects ?? true) : !read.no_follow_redirects,
      fail_if_ssl: read.fail_if_ssl,
      fail_if_not_ssl: read.fail_if_not_ssl,
      fail_if_body_matches_regexp: read.fail_if_body_matches_regexp,
      fail_if_body_not_matches_regexp: read.fail_if_body_not_matches_regexp,
      fail_if_header_matches: read.fail_if_header_matches,
      fail_if_header_not_matches: read.fail_if_header_not_matches,
      tls_config: read.tls_config,
      basic_auth: read.basic_auth,
      authorization: bearer === null ? read.authorization : { type: "Bearer", credentials: bearer },
      oauth2: read.oauth2,
      proxy: proxyOf(read, spot),
      skip_resolve_phase_with_proxy: read.skip_resolve_phase_with_proxy,
      enable_http2: read.enable_http2,
      body: secretOf(read.body, read.body_file, "body and body_file", spot),
    };
  },
);

/** Fields that frame the message, which the client sets. */
const RESERVED = new Set(["content-length", "transfer-encoding", "trailer"]);

function checkHeaders(headers: Readonly<Record<string, string>>, compression: string, spot: Spot): void {
  for (const [name, value] of Object.entries(headers)) {
    const path = [...spot.path, "headers", name];
    if (!TOKEN.test(name)) spot.fault("is no name of a header field", path);
    else if (!FIELD_VALUE.test(value)) spot.fault("must be one line without control characters", path);
    else if (RESERVED.has(name.toLowerCase()))
      spot.fault("cannot be set, because it frames the request: remove it", path);
    if (name.toLowerCase() === "accept-encoding" && !accepts(value, compression)) {
      spot.fault(`does not accept the compression ${compression}, which is expected`, path);
    }
  }
}

/** Reports whether Accept-Encoding accepts a coding (RFC 9110 section 12.5.3). "" is expected of no answer. */
function accepts(field: string, coding: string): boolean {
  if (coding === "") return true;
  const items = field
    .toLowerCase()
    .split(",")
    .map((item) => item.split(";").map((part) => part.trim()));
  const weight = (name: string): number | null => {
    const item = items.find(([listed]) => listed === name);
    if (item === undefined) return null;
    const quality = item.find((parameter) => parameter.startsWith("q="));
    return quality === undefined ? 1 : Number(quality.slice(2));
  };
  const own = weight(coding) ?? weight("*") ?? (coding === "identity" ? 1 : 0);
  return own > 0;
}
