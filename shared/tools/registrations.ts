import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, record, text, texts } from "#shared/tools/shapes.ts";

const HOLDING = {
  country: Nullable(text("Country code as registered; EU and AP occur although they are no countries")),
  status: texts("RDAP status words, e.g. active"),
  registered_at: Nullable(text("When it was registered, ISO 8601 UTC")),
  changed_at: Nullable(text("When the registration was last changed, ISO 8601 UTC")),
  abuse_email: Nullable(text("Abuse contact of the holder")),
};

/** A block of addresses as registered (RFC 9083 section 5.4). */
export const NetworkRegistration = Type.Object(
  {
    handle: Nullable(text("Registry's identifier of the block")),
    name: Nullable(text("Name of the block")),
    type: Nullable(text("The registry's kind of assignment, e.g. ASSIGNED PA")),
    start_address: text("First address of the block"),
    end_address: text("Last address of the block"),
    cidrs: Type.Array(Type.String(), { description: "The block in CIDR notation, at most 32 parts" }),
    parent_handle: Nullable(text("Identifier of the parent block")),
    ...HOLDING,
    url: text("RDAP resource this was read from"),
  },
  { description: "Registration of the address block in the registry's RDAP service; null if it gave none" },
);

/** An AS number, or the range in which it was registered (RFC 9083 section 5.5). */
export const AutnumRegistration = record(
  {
    handle: Nullable(text("The registry's identifier of the number")),
    name: Nullable(text("Short name, e.g. CLOUDFLARENET")),
    type: Nullable(text("The registry's kind of assignment")),
    start_asn: count("First AS number of the registration"),
    end_asn: count("Last AS number of the registration; the first again for a single number"),
    organization: Nullable(text("Holder of the registration")),
    ...HOLDING,
    url: text("RDAP resource this was read from"),
  },
  "Registration of the AS number in the registry's RDAP service; null if it gave none",
);
