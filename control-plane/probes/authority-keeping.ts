import type { Clock, Random } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { makeAuthority, openAuthority, type Authority } from "#control-plane/probes/authority.ts";
import { findAuthority, insertAuthority } from "#control-plane/probes/store.ts";

const PURPOSE = "authority.private_key";

/** What the installation's authority stands on. */
interface AuthorityDeps {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly random: Random;
}

/** The installation's one authority, made by the first replica that asks; all agree on it. */
export async function keepAuthority({ sql, encryption, clock, random }: AuthorityDeps): Promise<Authority> {
  const kept = (await findAuthority(sql)) ?? (await make());
  const privateKey = encryption.open(kept.privateKey, PURPOSE);
  if (privateKey === null) throw new Error("the authority's key in the database does not open under the master key");
  return openAuthority({ certificate: kept.certificate, privateKey }, clock, random);

  async function make() {
    const { certificate, privateKey: fresh } = await makeAuthority(clock, random);
    const sealed = { certificate, privateKey: encryption.seal(fresh, PURPOSE) };
    return transact(sql, (tx) => insertAuthority(tx, sealed, clock.now()));
  }
}
