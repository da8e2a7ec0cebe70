import { keysOfPart } from "#test/servers/chains/build.ts";
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
  requireExplicitPolicy,
  ski,
  USAGE,
} from "#test/servers/chains/extensions.ts";
import type { Row } from "#test/servers/chains/row.ts";
import { keyId } from "#test/servers/chains/writer.ts";
import { ascii, der, integer, sequence } from "#test/servers/der.ts";

const NO_NAME = sequence();
const rootId = keyId(keysOfPart("root"));
const ownId = keyId(keysOfPart("intermediate"));
const SIGNS = keyUsage(USAGE.keyCertSign | USAGE.cRLSign);

/** Chains whose fault is in the intermediate or the root. */
export const AUTHORITY_ROWS: readonly Row[] = [
  {
    name: "intermediate is no authority",
    source: "RFC 5280 section 6.1.4 k",
    change: { intermediate: { set: [basicConstraints(false), SIGNS] } },
    errors: ["not_a_ca"],
  },
  {
    name: "intermediate without basicConstraints",
    source: "RFC 5280 section 6.1.4 k",
    change: { intermediate: { drop: [OID.basicConstraints] } },
    errors: ["not_a_ca"],
  },
  {
    name: "intermediate without keyCertSign",
    source: "RFC 5280 section 6.1.4 n",
    change: { intermediate: { set: [keyUsage(USAGE.cRLSign)] } },
    errors: ["not_a_ca"],
  },
  {
    name: "intermediate without keyUsage",
    source: "RFC 5280 section 4.2.1.3; browsers accept",
    change: { intermediate: { drop: [OID.keyUsage] } },
    errors: [],
    strict: ["key_usage"],
  },
  {
    name: "basicConstraints of the intermediate not critical",
    source: "RFC 5280 section 4.2.1.9",
    change: { intermediate: { set: [basicConstraints(true, 0, false)] } },
    errors: [],
    strict: ["basic_constraints"],
  },
  {
    name: "basicConstraints of the root not critical",
    source: "RFC 5280 section 4.2.1.9",
    change: { root: { set: [basicConstraints(true, undefined, false)] } },
    errors: [],
    strict: ["basic_constraints"],
  },
  {
    name: "root without basicConstraints",
    source: "RFC 5280 section 4.2.1.9; Firefox: CA_CERT_INVALID",
    change: { root: { drop: [OID.basicConstraints] } },
    errors: ["not_a_ca"],
    differs: "firefox",
  },
  {
    name: "root without keyCertSign",
    source: "RFC 5280 section 6.1.4 n; Chrome applies it to roots",
    change: { root: { set: [keyUsage(USAGE.cRLSign)] } },
    errors: ["not_a_ca"],
  },
  {
    name: "root without keyUsage",
    source: "RFC 5280 section 4.2.1.3; browsers accept",
    change: { root: { drop: [OID.keyUsage] } },
    errors: [],
    strict: ["key_usage"],
  },
  {
    name: "root of version 1",
    source: "RFC 5280 section 6.1.4 k: known by other means",
    change: { root: { version: new Uint8Array(), extensionField: new Uint8Array() } },
    errors: [],
    strict: ["version"],
  },
  {
    name: "intermediate of version 1",
    source: "RFC 5280 section 6.1.4 k",
    change: { intermediate: { version: new Uint8Array(), extensionField: new Uint8Array() } },
    errors: ["not_a_ca"],
  },
  {
    name: "no subject key identifier in the intermediate",
    source: "RFC 5280 section 4.2.1.2",
    change: { intermediate: { drop: [OID.ski] } },
    errors: [],
    strict: ["subject_key_identifier"],
  },
  {
    name: "no subject key identifier in the root",
    source: "RFC 5280 section 4.2.1.2",
    change: { root: { drop: [OID.ski] } },
    errors: [],
    strict: ["subject_key_identifier"],
  },
  {
    name: "no authority key identifier in the intermediate",
    source: "RFC 5280 section 4.2.1.1",
    change: { intermediate: { drop: [OID.aki] } },
    errors: [],
    strict: ["authority_key_identifier"],
  },
  {
    name: "no key identifiers at all",
    source: "RFC 5280 sections 4.2.1.1, 4.2.1.2",
    change: {
      root: { drop: [OID.ski] },
      intermediate: { drop: [OID.ski, OID.aki] },
      leaf: { drop: [OID.ski, OID.aki] },
    },
    errors: [],
    strict: ["authority_key_identifier", "subject_key_identifier"],
  },
  {
    name: "authority key identifier in the root",
    source: "RFC 5280 section 4.2.1.1: optional there",
    change: { root: { set: [aki(rootId)] } },
    errors: [],
  },
  {
    name: "critical authority key identifier in the root",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { root: { set: [aki(rootId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical subject key identifier in the root",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { root: { set: [ski(rootId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical authority key identifier in the intermediate",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { intermediate: { set: [aki(rootId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical subject key identifier in the intermediate",
    source: "RFC 5280 sections 4.2.1.1 and 4.2.1.2; Chrome, Go and OpenSSL 3.0 refuse",
    change: { intermediate: { set: [ski(ownId, true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "critical authority information access in the intermediate",
    source: "RFC 5280 section 4.2.2.1; Chrome, Go and OpenSSL refuse",
    change: { intermediate: { set: [aia(true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "an unknown critical extension in the intermediate",
    source: "RFC 5280 section 4.2",
    change: { intermediate: { set: [extension("1.3.6.1.4.1.55555.7", integer(1), true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "an unknown critical extension in the root",
    source: "RFC 5937 section 2; Chrome",
    change: { root: { set: [extension("1.3.6.1.4.1.55555.7", integer(1), true)] } },
    errors: ["unknown_critical_extension"],
  },
  {
    name: "empty subject of the root",
    source: "RFC 5280 section 4.1.2.6; Chrome and Go accept",
    change: { root: { subject: NO_NAME }, intermediate: null },
    errors: [],
    strict: ["empty_issuer", "empty_subject"],
  },
  {
    name: "empty subject of the intermediate",
    source: "RFC 5280 section 4.1.2.6; Chrome and Go accept",
    change: { intermediate: { subject: NO_NAME } },
    errors: [],
    strict: ["empty_issuer", "empty_subject"],
  },
  {
    name: "intermediate beyond the root's path length",
    source: "RFC 5280 section 6.1.4 l",
    change: { root: { set: [basicConstraints(true, 0)] } },
    errors: ["path_too_long"],
  },
  {
    name: "path length of the intermediate without keyUsage",
    source: "RFC 5280 section 4.2.1.9",
    change: { intermediate: { set: [basicConstraints(true, 0)], drop: [OID.keyUsage] } },
    errors: [],
    strict: ["key_usage"],
  },
  {
    name: "path length of 300",
    source: "Chrome reads one octet",
    change: { intermediate: { set: [basicConstraints(true, 300)] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "negative path length",
    source: "RFC 5280 section 4.2.1.9: INTEGER (0..MAX)",
    change: {
      intermediate: {
        set: [
          extension(
            OID.basicConstraints,
            sequence(der(0x01, Uint8Array.of(0xff)), der(0x02, Uint8Array.of(0xff))),
            true,
          ),
        ],
      },
    },
    errors: ["malformed"],
  },
  {
    name: "intermediate for mail only",
    source: "Chrome, Firefox and OpenSSL take purposes of authorities for limits",
    change: { intermediate: { set: [eku("1.3.6.1.5.5.7.3.4")] } },
    errors: ["wrong_usage"],
  },
  {
    name: "intermediate for servers",
    source: "CABF 7.1.2.10.6",
    change: { intermediate: { set: [eku(PURPOSE.server, PURPOSE.client)] } },
    errors: [],
  },
  {
    name: "intermediate for any purpose, servers not named",
    source: "Firefox MatchEKU and OpenSSL's purpose sslserver ask for serverAuth",
    change: { intermediate: { set: [eku(PURPOSE.any)] } },
    errors: ["wrong_usage"],
  },
  {
    name: "empty name constraints",
    source: "RFC 5280 section 4.2.1.10; Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints(null)] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "empty list of permitted names",
    source: "RFC 5280 section 4.2.1.10: SIZE (1..MAX); Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints([])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "empty list of excluded names",
    source: "RFC 5280 section 4.2.1.10: SIZE (1..MAX); Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints(null, [])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "permitted names beside an empty list of excluded ones",
    source: "RFC 5280 section 4.2.1.10: SIZE (1..MAX); Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints([dns("chains.test")], [])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "name constraints of the root with an empty list",
    source: "RFC 5280 section 4.2.1.10; Go cannot read such a root",
    change: { root: { set: [nameConstraints([])] } },
    errors: ["malformed"],
    differs: "go",
  },
  {
    name: "name inside the permitted ones",
    source: "RFC 5280 section 4.2.1.10",
    change: { intermediate: { set: [nameConstraints([dns("chains.test")])] } },
    errors: [],
  },
  {
    name: "name outside the permitted ones",
    source: "RFC 5280 section 4.2.1.10",
    change: { intermediate: { set: [nameConstraints([dns("other.test")])] } },
    errors: ["name_constraints"],
  },
  {
    name: "name among the excluded ones",
    source: "RFC 5280 section 4.2.1.10",
    change: { root: { set: [nameConstraints(null, [dns("chains.test")])] } },
    errors: ["name_constraints"],
  },
  {
    name: "excluded addresses of a mask with a hole",
    source: "RFC 5280 section 4.2.1.10: as in CIDR; Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints(null, [ip(10, 0, 0, 0, 255, 0, 255, 0)])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "excluded addresses without a mask",
    source: "RFC 5280 section 4.2.1.10: eight octets; Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints(null, [ip(10, 0, 0, 0)])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "an excluded name with a final dot",
    source: "Go domainNameValid refuses",
    change: { intermediate: { set: [nameConstraints(null, [dns("other.test.")])] } },
    errors: ["malformed"],
    differs: "go",
  },
  {
    name: "an excluded name outside ASCII",
    source: "RFC 5280 section 4.2.1.6: IA5String; Chrome and Go refuse",
    change: { intermediate: { set: [nameConstraints(null, [ascii(0x82, "b\u00fccher.test")])] } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "critical policy mappings",
    source: "RFC 5280 section 4.2.1.5; Firefox: unhandled critical extension",
    change: {
      intermediate: {
        set: [
          policies("1.3.6.1.4.1.55555.1"),
          extension(
            OID.policyMappings,
            sequence(
              sequence(
                der(0x06, Buffer.from("2b06010401836303", "hex")),
                der(0x06, Buffer.from("2b06010401836304", "hex")),
              ),
            ),
            true,
          ),
        ],
      },
    },
    errors: ["unknown_critical_extension"],
    differs: "firefox",
  },
  {
    name: "a policy is required and all have it",
    source: "RFC 5280 section 6.1.3",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies("2.23.140.1.2.1")] },
      leaf: { set: [policies("2.23.140.1.2.1")] },
    },
    errors: [],
  },
];
