import { arrayOf, recordOf, textOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** A person or organization related to a registered object (RFC 9083 section 5.1). */
export interface RdapEntity {
  readonly handle: string | null;
  readonly roles: readonly string[];
  /** vCard KIND: org, individual or group. */
  readonly kind: string | null;
  /** vCard FN. */
  readonly name: string | null;
  /** vCard ORG. */
  readonly organization: string | null;
  readonly email: string | null;
  /** vCard TEL, only the number. */
  readonly phone: string | null;
  /** vCard URL. */
  readonly url: string | null;
  /**
   * Country from the vCard's ADR: ISO 3166-1 alpha-2 if the registry gives it (RFC 8605), otherwise the country's name.
   */
  readonly country: string | null;
  /** Identifier in publicIds with the type "IANA Registrar ID". */
  readonly iana_id: string | null;
  /** Entity that contains this one. Null if it belongs to the object itself. */
  readonly parent: RdapEntity | null;
}

const MAX_DEPTH = 4;
const MAX_ENTITIES = 100;
const MAX_PROPERTIES = 100;

/** Reads all entities of an object. Nested entities follow their parents. */
export function readEntities(value: unknown): readonly RdapEntity[] {
  const found: RdapEntity[] = [];
  const visit = (entities: unknown, parent: RdapEntity | null, depth: number): void => {
    for (const entity of arrayOf(entities, MAX_ENTITIES).map(recordOf)) {
      if (entity === null || found.length >= MAX_ENTITIES) continue;
      const read = readEntity(entity, parent);
      found.push(read);
      if (depth < MAX_DEPTH) visit(entity["entities"], read, depth + 1);
    }
  };
  visit(value, null, 1);
  return found;
}

/**
 * Returns the name of the organization behind an object: a registrant of kind org, otherwise any other registrant.
 * Maintainer objects do not count. Null if there is none.
 */
export function organizationOf(entities: readonly RdapEntity[]): string | null {
  const registrants = entities.filter(({ roles }) => roles.includes("registrant"));
  const named = (entity: RdapEntity | undefined) => entity?.organization ?? entity?.name ?? null;
  const organization = registrants.find((entity) => entity.kind === "org" && !isMaintainer(entity));
  return named(organization ?? registrants.find((entity) => named(entity) !== null && !isMaintainer(entity)));
}

/** Returns the email address for abuse reports, or null if the registry names none. */
export function abuseEmailOf(entities: readonly RdapEntity[]): string | null {
  return entities.find(({ roles, email }) => roles.includes("abuse") && email !== null)?.email ?? null;
}

/**
 * Reports whether an entity is a maintainer object. RIPE and APNIC list these access objects ("NAME-MNT") among the
 * registrants.
 */
function isMaintainer({ handle }: RdapEntity): boolean {
  return handle !== null && /(^|-)MNT(-|$)|^MAINT-/i.test(handle);
}

function readEntity(entity: Readonly<Record<string, unknown>>, parent: RdapEntity | null): RdapEntity {
  const [, properties] = arrayOf(entity["vcardArray"], 2);
  const card = arrayOf(properties, MAX_PROPERTIES).map((property) => arrayOf(property, 4));
  const property = (name: string): string | null => {
    for (const [key, , , value] of card) {
      // A structured value (ORG with units) is an array. Its first part is the name.
      const text = key === name ? textOf(Array.isArray(value) ? (value as unknown[])[0] : value) : null;
      if (text !== null) return text;
    }
    return null;
  };
  const email = property("email");
  const [, parameters, , parts] = card.find(([key]) => key === "adr") ?? [];
  return {
    handle: textOf(entity["handle"]),
    roles: arrayOf(entity["roles"], 20).filter((role) => typeof role === "string"),
    kind: property("kind"),
    name: property("fn"),
    organization: property("org"),
    email: email !== null && /^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/.test(email) ? email : null,
    phone: property("tel")?.replace(/^tel:/i, "") ?? null,
    url: property("url"),
    country: textOf(recordOf(parameters)?.["cc"]) ?? textOf(arrayOf(parts, 7)[6]),
    iana_id: ianaId(entity["publicIds"]),
    parent,
  };
}

/** Returns IANA's registrar number from publicIds (RFC 9083 section 4.8), or null. */
function ianaId(publicIds: unknown): string | null {
  const found = arrayOf(publicIds, 20)
    .map(recordOf)
    .find((id) => textOf(id?.["type"])?.toLowerCase() === "iana registrar id");
  return textOf(found?.["identifier"]);
}
