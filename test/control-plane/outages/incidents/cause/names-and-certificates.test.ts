import { describe, expect, it } from "vitest";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { ALL, failingOf, targetWith, type CauseCase } from "#test/control-plane/outages/incidents/cause/cases.ts";

const DNS_HOST = { checkType: "dns", url: "example.com" };

const CASES: CauseCase[] = [
  [
    "a name that does not exist",
    [[ALL, "dns", "nxdomain", "The name does not exist (NXDOMAIN)"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for shop.example.com from eu-west, us-east and ap-south",
  ],
  [
    "a name without an address",
    [["eu-west", "dns", "no_address", "The name has no address"]],
    "dns_no_address",
    "DNS: no address for shop.example.com from eu-west",
  ],
  [
    "a resolver that fails",
    [["eu-west", "dns", "servfail", "The resolver could not answer (SERVFAIL, extended error 6 DNSSEC Bogus)"]],
    "dns_servfail",
    "DNS: SERVFAIL for shop.example.com from eu-west: The resolver could not answer (SERVFAIL, extended error 6 DNSSEC Bogus)",
  ],
  [
    "a resolver that refuses",
    [["eu-west", "dns", "refused", "The resolver refused"]],
    "dns_refused",
    "DNS: REFUSED for shop.example.com from eu-west",
  ],
  [
    "a resolver that does not answer",
    [["eu-west", "dns", "timeout", "The resolver did not answer in time"]],
    "dns_timeout",
    "DNS: no answer for shop.example.com from eu-west",
  ],
  [
    "another failure of DNS",
    [["eu-west", "dns", "invalid_name", "This is not a valid DNS name"]],
    "dns_invalid_name",
    "DNS look-up failed from eu-west: This is not a valid DNS name",
  ],
  [
    "NXDOMAIN for a DNS monitor",
    [["eu-west", "dns", "nxdomain", "NXDOMAIN"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for example.com from eu-west",
    DNS_HOST,
  ],
  [
    "a resolver that fails and says why, with another address in each location",
    [
      [
        "eu-west",
        "dns",
        "servfail",
        "SERVFAIL for example.com from resolver 192.0.2.53: Signature Expired (for example.com)",
      ],
      [
        "us-east",
        "dns",
        "servfail",
        "SERVFAIL for example.com from resolver [2001:db8::53]:5353: Signature Expired (for example.com)",
      ],
    ],
    "dns_servfail",
    "DNS: SERVFAIL for example.com from eu-west and us-east: Signature Expired (for example.com)",
    DNS_HOST,
  ],
  [
    "a resolver that fails without a reason",
    [["eu-west", "dns", "servfail", "SERVFAIL for example.com from resolver 192.0.2.53"]],
    "dns_servfail",
    "DNS: SERVFAIL for example.com from eu-west",
    DNS_HOST,
  ],
  [
    "records that differ, each location with its own",
    [
      ["eu-west", "dns", "records_differ", "A of example.com is 203.0.113.9, expected 203.0.113.1"],
      ["us-east", "dns", "records_differ", "A of example.com is 203.0.113.7, expected 203.0.113.1"],
    ],
    "dns_records_differ",
    "DNS answer not as expected from eu-west: A of example.com is 203.0.113.9, expected 203.0.113.1; DNS answer not as expected from us-east: A of example.com is 203.0.113.7, expected 203.0.113.1",
    DNS_HOST,
  ],
  [
    "an answer that DNSSEC refuses",
    [[ALL, "dns", "dnssec_bogus", "DNSSEC validation fails: the signature has expired"]],
    "dns_dnssec_bogus",
    "DNS answer not as expected from eu-west, us-east and ap-south: DNSSEC validation fails: the signature has expired",
    DNS_HOST,
  ],
  [
    "an international name",
    [["eu-west", "dns", "nxdomain", "x"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for xn--bcher-kva.example from eu-west",
    { url: "bücher.example" },
  ],
  [
    "an expired certificate",
    [["eu-west us-east", "tls", "expired", "certificate expired 3 minutes ago"]],
    "tls_certificate_expired",
    "Certificate not trusted from eu-west and us-east: certificate expired 3 minutes ago",
  ],
  [
    "an expired certificate seen in different minutes",
    [
      ["eu-west", "tls", "expired", "certificate expired 3 minutes ago"],
      ["us-east", "tls", "expired", "certificate expired 4 minutes ago"],
    ],
    "tls_certificate_expired",
    "Certificate not trusted from eu-west and us-east: certificate expired 3 minutes ago",
  ],
  [
    "a certificate for another name",
    [["eu-west", "tls", "hostname_mismatch", "the certificate is for www.example.com"]],
    "tls_certificate_hostname_mismatch",
    "Certificate not trusted from eu-west: the certificate is for www.example.com",
  ],
  [
    "a revoked certificate",
    [[ALL, "tls", "revoked", "the certificate is revoked."]],
    "tls_certificate_revoked",
    "Certificate not trusted from eu-west, us-east and ap-south: the certificate is revoked",
  ],
  [
    "a handshake that times out",
    [["eu-west", "tls", "timeout", "shop.example.com: the TLS handshake timed out"]],
    "tls_timeout",
    "TLS handshake failed from eu-west: the TLS handshake timed out",
  ],
  [
    "a handshake with a host whose name is one word",
    [["eu-west", "tls", "timeout", "intranet: the TLS handshake timed out"]],
    "tls_timeout",
    "TLS handshake failed from eu-west: the TLS handshake timed out",
    { url: "https://intranet/" },
  ],
  [
    "an alert",
    [
      [
        "eu-west",
        "tls",
        "handshake_failure",
        "shop.example.com: the server ended the handshake with the alert handshake_failure",
      ],
    ],
    "tls_handshake_failure",
    "TLS handshake failed from eu-west: the server ended the handshake with the alert handshake_failure",
  ],
  [
    "a port that does not speak TLS",
    [["eu-west", "tls", "not_tls", "shop.example.com:8443: the port does not speak TLS"]],
    "tls_not_tls",
    "TLS handshake failed from eu-west: the port does not speak TLS",
  ],
  [
    "a certificate at one of several addresses",
    [["eu-west", "tls", "expired", "at 192.0.2.1, one of 2 addresses: certificate expired 2 days ago"]],
    "tls_certificate_expired",
    "Certificate not trusted from eu-west: at 192.0.2.1, one of 2 addresses: certificate expired 2 days ago",
  ],
  [
    "a fault of TLS without words",
    [["eu-west", "tls", "weak_key", ""]],
    "tls_certificate_weak_key",
    "Certificate not trusted from eu-west",
  ],
];

describe("the cause of a name or a certificate that fails", () => {
  it.each<CauseCase>(CASES)("%s is one sentence", (_what, faults, code, message, target) => {
    expect(describeCause(targetWith(target), failingOf(faults))).toEqual({ code, message });
  });
});
