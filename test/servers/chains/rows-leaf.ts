import { encodeOid } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import { CHAIN_HOST, keysOfPart } from "#test/servers/chains/build.ts";
import {
  aia,
  aki,
  basicConstraints,
  dns,
  eku,
  extension,
  ip,
  keyUsage,
  nameConstraints,
  OID,
  policies,
  PURPOSE,
  san,
  ski,
  USAGE,
} from "#test/servers/chains/extensions.ts";
import type { Row } from "#test/servers/chains/row.ts";
import { commonName, keyId } from "#test/servers/chains/writer.ts";
import { ascii, der, integer, sequence } from "#test/servers/der.ts";

const NO_NAME = sequence();
const HOST_NAME = dns(CHAIN_HOST);
const issuerId = keyId(keysOfPart("intermediate"));
const ownId = keyId(keysOfPart("leaf"));
const unknown = "1.3.6.1.4.1.55555.7";

/** Chains whose fault is in the server's own certificate: what it is, may do, and is called. */
export const LEAF_ROWS: readonly Row[] = [
  { name: "nothing is wrong", source: "RFC 5280", change: {}, errors: [] },
  {
    name: "nothing is wrong, and no intermediate",
    source: "RFC 5280",
    change: { intermediate: null },
    errors: [],
  },
  {
    name: "leaf is an authority",
    source: "CABF 7.1.2.7.8; Firefox CheckBasicConstraints: CA_CERT_USED_AS_END_ENTITY",
    change: { leaf: { set: [basicConstraints(true), keyUsage(USAGE.digitalSignature | USAGE.keyCertSign)] } },
    errors: ["wrong_usage"],
    differs: "firefox",
  },
  {
    name: "leaf is an authority that may not sign",
    source: "CABF 7.1.2.7.8; Firefox CheckBasicConstraints: CA_CERT_USED_AS_END_ENTITY",
    change: { leaf: { set: [basicConstraints(true)] } },
    errors: ["wrong_usage"],
    differs: "firefox",
  },
  {
    name: "leaf is no authority and has keyCertSign",
    source: "RFC 5280 section 4.2.1.3; Chrome until 2022: target certificate with inconsistent CA bits",
    change: { leaf: { set: [keyUsage(USAGE.digitalSignature | USAGE.keyCertSign)] } },
    errors: ["wrong_usage"],
    differs: "profile",
  },
  {
    name: "leaf without basicConstraints and with keyCertSign",
    source: "RFC 5280 section 4.2.1.9; Chrome until 2022: target certificate with inconsistent CA bits",
    change: {
      leaf: { drop: [OID.basicConstraints], set: [keyUsage(USAGE.digitalSignature | USAGE.keyCertSign)] },
    },
    errors: ["wrong_usage"],
    differs: "profile",
  },
  {
    name: "leaf is no authority and has a path length",
    source: "RFC 5280 section 4.2.1.9; Firefox and Go do not check it",
    change: { leaf: { set: [basicConstraints(false, 0)] } },
    errors: [],
    strict: ["path_length"],
  },
  {
    name: "leaf without basicConstraints",
    source: "optional",
    change: { leaf: { drop: [OID.basicConstraints] } },
    errors: [],
  },
  { name: "leaf without keyUsage", source: "optional", change: { leaf: { drop: [OID.keyUsage] } }, errors: [] },
  {
    name: "leaf with no bit of keyUsage",
    source: "RFC 5280 section 4.2.1.3: at least one; Chrome, Firefox and OpenSSL refuse",
    change: { leaf: { set: [keyUsage(0)] } },
    errors: ["malformed", "wrong_usage"],
  },
  {
    name: "leaf with keyUsage that no TLS key exchange uses",
    source: "RFC 8446 section 4.4.2.2; OpenSSL's purpose sslserver",
    change: { leaf: { set: [keyUsage(0x40)] } },
    errors: ["wrong_usage"],
  },
  {
    name: "leaf with set bits of keyUsage behind its end",
    source: "X.690 section 11.2.1; Firefox CheckKeyUsage and Chrome's BIT STRING refuse",
    change: { leaf: { set: [extension(OID.keyUsage, der(0x03, Uint8Array.of(7, 0x81)), true)] } },
    errors: ["malformed"],
    differs: "firefox",
  },
  {
    name: "leaf without extendedKeyUsage",
    source: "Chrome, Firefox and Go accept",
    change: { leaf: { drop: [OID.eku] } },
    errors: [],
  },
  {
    name: "leaf for clients only",
    source: "RFC 5280 section 4.2.1.12",
    change: { leaf: { set: [eku(PURPOSE.client)] } },
    errors: ["wrong_usage"],
  },
  {
    name: "leaf for any purpose, servers not named",
    source: "Firefox MatchEKU and OpenSSL's purpose sslserver ask for serverAuth",
    change: { leaf: { set: [eku(PURPOSE.any)] } },
    errors: ["wrong_usage"],
  },
  {
    name: "leaf for servers and OCSP",
    source: "Firefox CheckExtendedKeyUsage refuses an OCSP responder as a server",
    change: { leaf: { set: [eku(PURPOSE.server, PURPOSE.ocspSigning)] } },
    errors: ["wrong_usage"],
    differs: "firefox",
  },
  {
    name: "leaf for servers and code signing",
    source: "CABF 7.1.2.7.10; no browser refuses",
    change: { leaf: { set: [eku(PURPOSE.server, PURPOSE.codeSigning)] } },
    errors: [],
  },
  {
    name: "leaf with an empty extendedKeyUsage",
    source: "RFC 5280 section 4.2.1.12: SIZE (1..MAX); Chrome and Firefox refuse",
    change: { leaf: { set: [eku()] } },
    errors: ["malformed", "wrong_usage"],
  },
  {
    name: "empty subject, names not critical",
    source: "RFC 5280 section 4.1.2.6; Chrome ParsedCertificate: SAN not critical",
    change: { leaf: { subject: NO_NAME } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "empty subject, names critical",
    source: "RFC 5280 section 4.1.2.6",
    change: { leaf: { subject: NO_NAME, set: [san([HOST_NAME], true)] } },
    errors: [],
  },
  {
    name: "subject and critical names",
    source: "CABF 7.1.2.7.12; no browser refuses",
    change: { leaf: { set: [san([HOST_NAME], true)] } },
    errors: [],
  },
  {
    name: "name constraints in the leaf",
    source: "RFC 5280 section 4.2.1.10: authorities only",
    change: { leaf: { set: [nameConstraints([HOST_NAME])] } },
    errors: ["name_constraints"],
    differs: "profile",
  },
  {
    name: "an iPAddress of five octets beside the name",
    source: "RFC 5280 section 4.2.1.6; Chrome and Go refuse",
    change: { leaf: { set: [san([HOST_NAME, ip(1, 2, 3, 4, 5)])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "an IPv4-mapped iPAddress beside the name",
    source: "Go parseSANExtension refuses",
    change: {
      leaf: { set: [san([HOST_NAME, ip(...Array.from({ length: 10 }, () => 0), 255, 255, 127, 0, 0, 1)])] },
    },
    errors: ["malformed"],
    differs: "go",
  },
  {
    name: "an address as dNSName beside the name",
    source: "CABF 7.1.4.2.1; browsers pass over it",
    change: { leaf: { set: [san([HOST_NAME, dns("127.0.0.1")])] } },
    errors: [],
  },
  {
    name: "a dNSName outside ASCII beside the name",
    source: "RFC 5280 section 4.2.1.6: IA5String; Chrome and Go refuse",
    change: { leaf: { set: [san([HOST_NAME, ascii(0x82, "b\u00fccher.test")])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "a constructed dNSName beside the name",
    source: "X.690 section 10.2; Chrome: unknown kind of GeneralName",
    change: { leaf: { set: [san([HOST_NAME, ascii(0xa2, "x.test")])] } },
    errors: ["malformed"],
  },
  {
    name: "critical authority key identifier in the leaf",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { leaf: { set: [aki(issuerId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical subject key identifier in the leaf",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { leaf: { set: [ski(ownId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical authority information access in the leaf",
    source: "RFC 5280 section 4.2.2.1; Chrome, Go and OpenSSL refuse",
    change: { leaf: { set: [aia(true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "authority information access in the leaf",
    source: "RFC 5280 section 4.2.2.1",
    change: { leaf: { set: [aia()] } },
    errors: [],
  },
  {
    name: "critical TLS feature in the leaf",
    source: "RFC 7633 section 4.1; Chrome and OpenSSL refuse",
    change: { leaf: { set: [extension(OID.tlsFeature, sequence(integer(5)), true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical distribution points in the leaf",
    source: "RFC 5280 section 4.2.1.13; Chrome and Firefox: unhandled critical extension",
    change: {
      leaf: {
        set: [
          extension(
            OID.crlPoints,
            sequence(sequence(der(0xa0, der(0xa0, ascii(0x86, "http://pki.test/list.crl"))))),
            true,
          ),
        ],
      },
    },
    errors: ["unknown_critical_extension"],
    differs: "chrome",
  },
  {
    name: "an unknown critical extension in the leaf",
    source: "RFC 5280 section 4.2",
    change: { leaf: { set: [extension(unknown, integer(1), true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "an unknown extension in the leaf",
    source: "RFC 5280 section 4.2",
    change: { leaf: { set: [extension(unknown, integer(1))] } },
    errors: [],
  },
  {
    name: "an empty authority information access",
    source: "RFC 5280 section 4.2.2.1: SIZE (1..MAX); Chrome refuses",
    change: { leaf: { set: [extension(OID.aia, sequence())] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "the same policy twice",
    source: "RFC 5280 section 4.2.1.4; Go and Chrome refuse",
    change: { leaf: { set: [policies("2.23.140.1.2.1", "2.23.140.1.2.1")] } },
    errors: ["malformed"],
    differs: "go",
  },
  {
    name: "an empty list of policies",
    source: "RFC 5280 section 4.2.1.4: SIZE (1..MAX); Chrome refuses",
    change: { leaf: { set: [policies()] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "no authority key identifier in the leaf",
    source: "RFC 5280 section 4.2.1.1",
    change: { leaf: { drop: [OID.aki] } },
    errors: [],
    strict: ["authority_key_identifier"],
  },
  {
    name: "authority key identifier by issuer and serial number in the leaf",
    source: "RFC 5280 section 4.2.1.1: the key identifier is a must",
    change: {
      leaf: {
        serial: Uint8Array.of(9),
        set: [
          extension(OID.aki, sequence(der(0xa1, der(0xa4, commonName("Chains root"))), der(0x82, Uint8Array.of(7)))),
        ],
      },
      intermediate: { serial: Uint8Array.of(7) },
    },
    errors: [],
    strict: ["authority_key_identifier"],
  },
  {
    name: "authority key identifier of a serial number without issuer",
    source: "RFC 5280 section 4.2.1.1: both or none; Chrome refuses",
    change: {
      leaf: { set: [extension(OID.aki, sequence(der(0x80, issuerId), der(0x82, Uint8Array.of(7))))] },
      intermediate: { serial: Uint8Array.of(7) },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "no subject key identifier in the leaf",
    source: "RFC 5280 section 4.2.1.2: a SHOULD for servers",
    change: { leaf: { drop: [OID.ski] } },
    errors: [],
  },
  {
    name: "leaf's keyUsage names lists, subject empty",
    source: "RFC 5280 section 4.1.2.6: who signs lists has a name",
    change: {
      leaf: { subject: NO_NAME, set: [san([HOST_NAME], true), keyUsage(USAGE.digitalSignature | USAGE.cRLSign)] },
    },
    errors: [],
    strict: ["empty_subject"],
  },
  {
    name: "a policy with a qualifier",
    source: "RFC 5280 section 4.2.1.4",
    change: {
      leaf: {
        set: [
          extension(
            OID.policies,
            sequence(
              sequence(
                encodeOid("2.23.140.1.2.1"),
                sequence(sequence(encodeOid("1.3.6.1.5.5.7.2.1"), ascii(0x16, "http://pki.test/cps"))),
              ),
            ),
          ),
        ],
      },
    },
    errors: [],
  },
];
