/** Roles of members, from the one that may do most. */
export const ROLES = ["owner", "editor", "viewer"] as const;
/** Role of a member in an account. */
export type Role = (typeof ROLES)[number];

/** Returns the roles that may do more than this one; null: all of them. */
export function rolesAbove(role: Role | null): readonly Role[] {
  return role === null ? ROLES : ROLES.slice(0, ROLES.indexOf(role));
}

/**
 * What an action needs. read: look at what the account has, without secrets. write: change monitors, incidents, pages and
 * the like, and run tools, which count by the plan. manage: keys, secrets, members, the account itself.
 */
export type Permission = "read" | "write" | "manage";

const ALLOWED: Readonly<Record<Role, readonly Permission[]>> = {
  owner: ["read", "write", "manage"],
  editor: ["read", "write"],
  viewer: ["read"],
};

/** Reports whether a role may do what needs a permission. */
export function isAllowed(role: Role, permission: Permission): boolean {
  return ALLOWED[role].includes(permission);
}
