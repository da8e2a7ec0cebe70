import { inhibitAnyPolicy, policies, policyMappings, requireExplicitPolicy } from "#test/servers/chains/extensions.ts";
import type { Row } from "#test/servers/chains/row.ts";

const REQUIRED = "2.23.140.1.2.1";
const OTHER = "2.23.140.1.2.2";
const ANY_POLICY = "2.5.29.32.0";

/** Chains whose fault is in the policies that an authority requires. */
export const POLICY_ROWS: readonly Row[] = [
  {
    name: "critical policy mappings",
    source: "RFC 5280 section 4.2.1.5; Firefox: unhandled critical extension",
    change: {
      intermediate: {
        set: [policies(REQUIRED), policyMappings(REQUIRED, OTHER, true)],
      },
    },
    errors: ["unknown_critical_extension"],
    differs: "firefox",
  },
  {
    name: "a policy is required and all have it",
    source: "RFC 5280 section 6.1.3",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED)] },
      leaf: { set: [policies(REQUIRED)] },
    },
    errors: [],
  },
  {
    name: "a policy is required and the leaf has none",
    source: "RFC 5280 section 6.1.5 g; Chrome and Go refuse; OpenSSL with -policy_check",
    change: { intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED)] } },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is required and the leaf has another",
    source: "RFC 5280 section 6.1.3 d; Chrome and Go refuse; OpenSSL with -policy_check",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED)] },
      leaf: { set: [policies(OTHER)] },
    },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is required and the authority has any",
    source: "RFC 5280 section 6.1.3 d 2",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(ANY_POLICY)] },
      leaf: { set: [policies(OTHER)] },
    },
    errors: [],
  },
  {
    name: "a policy is required and the leaf has one that is mapped to it",
    source: "RFC 5280 section 6.1.4 b",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED), policyMappings(REQUIRED, OTHER)] },
      leaf: { set: [policies(OTHER)] },
    },
    errors: [],
  },
  {
    name: "a policy is required and another is mapped to it",
    source: "RFC 5280 section 6.1.4 b; Chrome and Go refuse; OpenSSL with -policy_check",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED), policyMappings(REQUIRED, OTHER)] },
      leaf: { set: [policies(REQUIRED)] },
    },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is mapped to any",
    source: "RFC 5280 section 6.1.4 a; Chrome refuses",
    change: { intermediate: { set: [policies(REQUIRED), policyMappings(ANY_POLICY, OTHER)] } },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "any policy is inhibited",
    source: "RFC 5280 section 6.1.3 d 2; Chrome and Go refuse; OpenSSL with -policy_check",
    change: {
      intermediate: { set: [requireExplicitPolicy(0), policies(REQUIRED), inhibitAnyPolicy(0)] },
      leaf: { set: [policies(ANY_POLICY)] },
    },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is required one certificate on",
    source: "RFC 5280 section 6.1.5 a: counted down once more at the end; Chrome and Go refuse",
    change: { intermediate: { set: [requireExplicitPolicy(1)] } },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is required by the leaf",
    source: "RFC 5280 section 6.1.5 b; Chrome and Go refuse",
    change: { leaf: { set: [requireExplicitPolicy(0)] } },
    errors: ["no_valid_policy"],
    differs: "chrome",
  },
  {
    name: "a policy is required two certificates on",
    source: "RFC 5280 section 6.1.4 i: the leaf is only one on",
    change: { intermediate: { set: [requireExplicitPolicy(2)] } },
    errors: [],
  },
  {
    name: "a policy is required by the root",
    source: "RFC 5280 section 6.1.1 d: a root only lends name and key; Chrome holds private roots to it",
    change: { root: { set: [requireExplicitPolicy(0)] } },
    errors: [],
  },
];
