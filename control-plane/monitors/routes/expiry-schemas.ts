import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";

const Time = (description: string) => Type.String({ format: "date-time", description });
const Days = (what: string) => Type.Integer({ description: `Whole days until ${what}; negative after it` });

const CERTIFICATE = Type.Object(
  {
    issuer: Type.String({ description: "Distinguished name of the issuer" }),
    subject: Type.String({ description: "Distinguished name of the holder" }),
    fingerprint_sha256: Type.String({ description: "SHA-256 of the certificate, hexadecimal" }),
    not_before: Time("Start of validity"),
    not_after: Time("End of validity"),
    days_left: Days("not_after"),
    first_to_end: Type.Object(
      {
        role: Type.Enum(["leaf", "intermediate", "root"], { description: "leaf: the server's own certificate" }),
        subject: Type.String({ description: "Distinguished name of its holder" }),
        issuer: Type.String({ description: "Distinguished name of its issuer" }),
        fingerprint_sha256: Type.String({ description: "SHA-256 of it, hexadecimal" }),
        not_after: Time("End of its validity"),
        days_left: Days("its not_after"),
      },
      { description: "The certificate of the chain that the server sends whose validity ends first" },
    ),
    trusted: Type.Boolean({ description: "Whether a browser would connect when it was looked at" }),
    trust_error: Nullable(Type.String({ description: "Why not, as in the tool ssl; null if it is trusted" })),
    looked_at: Time("When it was last looked at successfully; about once a day, and soon after a change"),
    chain_changed_at: Nullable(Time("When another certificate was found than before; null: never")),
  },
  {
    description:
      "ssl, and http and keyword with an https URL: certificate of the server in url; null for others, and until the " +
      "first look",
  },
);

const DOMAIN = Type.Object(
  {
    name: Type.String({ description: "Registered domain" }),
    registrar: Nullable(Type.String({ description: "Registrar; null if the registry does not name it" })),
    expires_at: Nullable(Time("End of the registration; null if the registry does not state it")),
    end_published: Type.Boolean({
      description: "false: the registry states no end, as those of .de and .eu: only presence and status are watched",
    }),
    days_left: Nullable(Days("expires_at")),
    status: Type.Array(Type.String(), { description: "Status words as the registry prints them" }),
    looked_at: Time("When the registry last answered; it is asked about once a day"),
  },
  { description: "domain, and watch_domain: registration of the domain; null for others, and until the first answer" },
);

const LookError = (what: string) =>
  Nullable(
    Type.Object(
      {
        reason: Type.String({
          description:
            "Stable word, such as timeout, refused, rate_limited; lapse_in_doubt: a registry contradicts itself",
        }),
        message: Type.String({ description: "Explanation for people" }),
        failed_since: Time("Time of the first of the looks in a row that brought nothing"),
        next_look_at: Time("When the next one is made at the earliest"),
      },
      { description: `Why the last look at the ${what} brought nothing; null if it did, or there was none yet` },
    ),
  );

/** What monitors show about their certificate and their domain. */
export const SHOWN_EXPIRY = {
  ssl_days: Nullable(
    Type.Integer({ description: "Whole days until the first certificate of the chain expires; null while not known" }),
  ),
  certificate: Nullable(CERTIFICATE),
  certificate_error: LookError("certificate"),
  domain: Nullable(DOMAIN),
  domain_error: LookError("registration of the domain"),
};
