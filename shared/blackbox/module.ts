import type { Expression } from "#shared/blackbox/expression.ts";

/** A text that is given, or is read from a file at each probe, because secrets in files are changed while we run. */
export type Secret = { readonly text: string } | { readonly file: string };

/** Which addresses of a name are probed. */
export interface AddressChoice {
  readonly preferred_ip_protocol: "ip4" | "ip6";
  /** Whether the other family is probed if the name has no address of the preferred one. */
  readonly ip_protocol_fallback: boolean;
}

/** How TLS is spoken with a target. Certificates and keys are PEM. */
export interface TlsOptions {
  readonly insecure_skip_verify: boolean;
  /** Certificates to trust in place of the system's; null: the system's. */
  readonly ca: Secret | null;
  /** The client's certificate with its chain; null: none. */
  readonly cert: Secret | null;
  readonly key: Secret | null;
  /** Name to send (SNI) and to verify; "" for that of the target. */
  readonly server_name: string;
  readonly min_version: TlsVersion | null;
  readonly max_version: TlsVersion | null;
}

/** Names of the versions in the file. */
export type TlsVersion = "TLS10" | "TLS11" | "TLS12" | "TLS13";

/** A condition on a header field of a response. */
export interface HeaderMatch {
  readonly header: string;
  readonly regexp: Expression;
  readonly allow_missing: boolean;
}

/** Client credentials grant of OAuth 2.0 (RFC 6749 section 4.4). */
export interface Oauth2Options {
  readonly client_id: string;
  readonly client_secret: Secret;
  readonly scopes: readonly string[];
  readonly token_url: string;
  readonly endpoint_params: Readonly<Record<string, string>>;
  readonly tls_config: TlsOptions;
  readonly proxy: ProxyOptions;
}

/** The proxy in front of targets. */
export interface ProxyOptions {
  /** null: none, or that of the environment. */
  readonly proxy_url: string | null;
  /** Hosts that are reached without it, separated by commas. */
  readonly no_proxy: string;
  readonly proxy_from_environment: boolean;
  /** Fields of CONNECT requests. */
  readonly proxy_connect_header: Readonly<Record<string, readonly string[]>>;
}

/** Options of the prober http. */
export interface HttpOptions extends AddressChoice {
  /** Empty: 2xx. */
  readonly valid_status_codes: readonly number[];
  /** Such as HTTP/1.1 and HTTP/2.0; empty: all. */
  readonly valid_http_versions: readonly string[];
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Octets of the decoded body; 0: no limit. */
  readonly body_size_limit: number;
  readonly compression: "" | "gzip" | "br" | "deflate" | "identity";
  readonly follow_redirects: boolean;
  readonly fail_if_ssl: boolean;
  readonly fail_if_not_ssl: boolean;
  readonly fail_if_body_matches_regexp: readonly Expression[];
  readonly fail_if_body_not_matches_regexp: readonly Expression[];
  readonly fail_if_header_matches: readonly HeaderMatch[];
  readonly fail_if_header_not_matches: readonly HeaderMatch[];
  readonly tls_config: TlsOptions;
  readonly basic_auth: { readonly username: Secret; readonly password: Secret } | null;
  /** The field Authorization: type and credentials. bearer_token is one of type Bearer. */
  readonly authorization: { readonly type: string; readonly credentials: Secret } | null;
  readonly oauth2: Oauth2Options | null;
  readonly proxy: ProxyOptions;
  /** Whether a name is left to the proxy to look up. */
  readonly skip_resolve_phase_with_proxy: boolean;
  readonly enable_http2: boolean;
  /** null: no body. */
  readonly body: Secret | null;
}

/** A step of a dialogue: what to wait for, then what to send, then whether TLS begins. */
export interface QueryResponse {
  readonly expect: Expression | null;
  /** Labels of probe_expect_info; values can contain what was matched. */
  readonly labels: readonly { readonly name: string; readonly value: string }[];
  /** "": nothing. */
  readonly send: string;
  readonly starttls: boolean;
}

/** Options of the prober tcp. */
export interface TcpOptions extends AddressChoice {
  readonly source_ip_address: string | null;
  readonly query_response: readonly QueryResponse[];
  readonly tls: boolean;
  readonly tls_config: TlsOptions;
}

/** Conditions on the records of one section. */
export interface RecordConditions {
  readonly fail_if_matches_regexp: readonly Expression[];
  readonly fail_if_all_match_regexp: readonly Expression[];
  readonly fail_if_not_matches_regexp: readonly Expression[];
  readonly fail_if_none_matches_regexp: readonly Expression[];
}

/** Options of the prober dns. */
export interface DnsOptions extends AddressChoice {
  readonly source_ip_address: string | null;
  readonly transport_protocol: "udp" | "tcp";
  /** With tcp alone. */
  readonly dns_over_tls: boolean;
  readonly tls_config: TlsOptions;
  readonly query_name: string;
  /** A mnemonic or TYPEn. */
  readonly query_type: string;
  /** A number (RFC 1035 section 3.2.4). */
  readonly query_class: number;
  readonly recursion_desired: boolean;
  /** Numbers of RCODEs. */
  readonly valid_rcodes: readonly number[];
  readonly validate_answer_rrs: RecordConditions;
  readonly validate_authority_rrs: RecordConditions;
  readonly validate_additional_rrs: RecordConditions;
}

/** Options of the prober icmp. */
export interface IcmpOptions extends AddressChoice {
  readonly source_ip_address: string | null;
  readonly dont_fragment: boolean;
  /** Octets of the payload; 0: the exporter's 28. */
  readonly payload_size: number;
  readonly ttl: number;
}

/** Options of the prober grpc. */
export interface GrpcOptions extends AddressChoice {
  /** "": the server as a whole. */
  readonly service: string;
  readonly tls: boolean;
  readonly tls_config: TlsOptions;
}

/** A module of blackbox.yml. The names of its options are those of the file. */
export type Module = {
  readonly name: string;
  /** Time limit in milliseconds; null: that of the scrape. */
  readonly timeoutMs: number | null;
} & (
  | { readonly prober: "http"; readonly options: HttpOptions }
  | { readonly prober: "tcp"; readonly options: TcpOptions }
  | { readonly prober: "dns"; readonly options: DnsOptions }
  | { readonly prober: "icmp"; readonly options: IcmpOptions }
  | { readonly prober: "grpc"; readonly options: GrpcOptions }
);
