import { SHORT, type Case } from "#test/lab/parity/case.ts";

type Row = readonly [what: string, place: string, options: object, shows: Case["shows"], more?: object];

const UNKNOWN = /certificate signed by unknown authority/;
const NAME = /certificate is (?:valid for|not valid for)|doesn't contain any IP SANs/;
const VERSION = /protocol version not supported/;
const CLIENT = { cert_file: "{clientcert}", key_file: "{clientkey}" };

/** Each is probed by http and by tcp. */
const ROWS: readonly Row[] = [
  ["good", "{tls}", {}, "success"],
  ["expired", "{expired}", {}, /certificate has expired/],
  ["not yet valid", "{future}", {}, /not yet valid/],
  ["self-signed", "{selfsigned}", {}, UNKNOWN],
  ["a wrong name", "{wrongname}", {}, NAME],
  ["a common name alone", "{commonname}", {}, NAME],
  ["a missing intermediate", "{incomplete}", {}, UNKNOWN],
  ["an unknown authority", "{stranger}", {}, UNKNOWN],
  ["an unknown root that is sent", "{strangerfull}", {}, UNKNOWN],
  ["the root sent too", "{withroot}", {}, "success"],
  ["an expired certificate beside the chain", "{extraexpired}", {}, "success"],
  ["a certificate beside the chain that expires first", "{extrasoon}", {}, "success"],
  ["certificates in disorder", "{disordered}", {}, "success"],
  ["a certificate for clients", "{clientauth}", {}, /incompatible key usage/],
  ["an RSA key", "{rsa}", {}, "success"],
  ["a key of 1024 bits", "{rsa1024}", {}, "success"],
  ["SHA-1", "{sha1}", {}, /insecure algorithm/],
  ["Ed25519", "{ed25519}", {}, "success"],
  ["a certificate of eleven years", "{longlived}", {}, "success"],
  ["expired without verification", "{expired}", { insecure_skip_verify: true }, "success"],
  ["self-signed without verification", "{selfsigned}", { insecure_skip_verify: true }, "success"],
  ["a wrong name without verification", "{wrongname}", { insecure_skip_verify: true }, "success"],
  ["a missing intermediate without verification", "{incomplete}", { insecure_skip_verify: true }, "success"],
  ["an extra certificate without verification", "{extraexpired}", { insecure_skip_verify: true }, "success"],
  ["ca_file", "{stranger}", { ca_file: "{strangerroot}" }, "success"],
  ["ca_file of two roots", "{tls}", { ca_file: "{bothroots}" }, "success"],
  ["ca_file in place of the system's roots", "{tls}", { ca_file: "{strangerroot}" }, UNKNOWN],
  ["ca_file without a certificate", "{tls}", { ca_file: "{nopem}" }, /unable to use specified CA/],
  ["ca_file that is missing", "{tls}", { ca_file: "{goneroot}" }, /no such file/],
  ["server_name", "{wrongname}", { server_name: "other.example" }, "success"],
  ["server_name that is wrong", "{tls}", { server_name: "other.example" }, NAME],
  ["server_name under a wildcard", "{wildcard}", { server_name: "www.site.example" }, "success"],
  ["server_name two labels under a wildcard", "{wildcard}", { server_name: "a.b.site.example" }, NAME],
  ["server_name in capitals", "{wrongname}", { server_name: "OTHER.example" }, "success"],
  ["server_name that is an address", "{tls}", { server_name: "127.0.0.1" }, "success"],
  ["a client certificate", "{mutual}", CLIENT, "success"],
  ["a client certificate with TLS 1.2", "{mutual12}", CLIENT, "success"],
  ["no client certificate", "{mutual}", {}, /certificate required/],
  ["no client certificate with TLS 1.2", "{mutual12}", {}, /handshake failure/],
  ["no client certificate where it is optional", "{optional}", {}, "success"],
  [
    "a foreign client certificate with TLS 1.2",
    "{mutual12}",
    { cert_file: "{foreigncert}", key_file: "{foreignkey}" },
    /EOF/,
  ],
  [
    "a client certificate that is missing",
    "{mutual}",
    { cert_file: "{gonecert}", key_file: "{gonekey}" },
    /no such file/,
  ],
  [
    "a client certificate with another key",
    "{mutual}",
    { cert_file: "{clientcert}", key_file: "{foreignkey}" },
    /private key does not match/,
  ],
  ["TLS 1.0", "{tls10}", {}, VERSION],
  ["TLS 1.1", "{tls11}", {}, VERSION],
  ["TLS 1.0 that is allowed", "{tls10}", { min_version: "TLS10" }, "success"],
  ["TLS 1.1 that is allowed", "{tls11}", { min_version: "TLS11" }, "success"],
  ["TLS 1.2", "{tls12}", {}, "success"],
  ["TLS 1.3", "{tls13}", {}, "success"],
  ["min_version above the server's", "{tls12}", { min_version: "TLS13" }, VERSION],
  ["max_version below the server's", "{tls13}", { max_version: "TLS12" }, VERSION],
  ["max_version", "{tls}", { max_version: "TLS12" }, "success"],
  ["a suite with CBC", "{cbc}", {}, "success"],
  ["a suite with CBC and SHA-256", "{cbc256}", {}, /handshake failure/],
  ["another ALPN protocol", "{imap}", {}, /no application protocol/],
  ["octets that are no TLS", "{tls_garbage}", {}, /does not look like a TLS handshake/],
  ["a server that closes", "{tls_closing}", {}, /EOF/],
  ["a server that resets", "{tls_reset}", {}, /reset by peer/],
  ["an alert", "{tls_alert_handshake_failure}", {}, /handshake failure/],
  ["silence", "{tls_hanging}", {}, /deadline exceeded/, SHORT],
  ["a server that closes after its certificate", "{tls_half_close}", {}, /EOF/],
  ["silence after the certificate", "{tls_half_hanging}", {}, /deadline exceeded/, SHORT],
];

/** TLS that both probers see alike, except what each names here. */
const DIFFER: Readonly<Record<string, Partial<Record<"http" | "tcp", Case["shows"]>>>> = {
  "no client certificate": { tcp: "success" },
  "another ALPN protocol": { tcp: "success" },
};

/** Cases of certificates and versions of TLS. */
export const TLS_CASES: readonly Case[] = ROWS.flatMap(([what, place, tls, shows, more = {}]) => [
  {
    what: `http over TLS: ${what}`,
    module: { prober: "http", http: { preferred_ip_protocol: "ip4", tls_config: tls } },
    target: `https://${place}/ok`,
    shows: DIFFER[what]?.http ?? shows,
    ...more,
  },
  {
    what: `tcp over TLS: ${what}`,
    module: { prober: "tcp", tcp: { preferred_ip_protocol: "ip4", tls: true, tls_config: tls } },
    target: place,
    shows: DIFFER[what]?.tcp ?? shows,
    ...more,
  },
]);
