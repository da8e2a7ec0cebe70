-- The log of changes: who can be a member of the account or the service itself, what a change was called, and its values.

alter table account_changes
  drop constraint account_changes_actor_type_check,
  -- member: actor_id is the id of the user, actor_name the email address then. system: the service itself, without both.
  add constraint account_changes_actor_type_check check (actor_type in ('key', 'member', 'operator', 'system')),
  -- null: the service itself, which has no client.
  alter column address drop not null,
  add constraint account_changes_address_check check (address is not null or actor_type = 'system'),
  -- Of rows from before; later ones have `changed`.
  alter column fields set default '{}',
  -- What the resource was called then; null: it has no name, or the row is from before.
  add column subject_name text,
  -- [{field, before, after}], as the API shows values; "changed" in place of secrets. null: a row from before.
  add column changed json;

-- Lists the changes of one resource.
create index account_changes_subject on account_changes (account_id, resource, resource_id, id desc);
