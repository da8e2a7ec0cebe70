-- What the provider calls the message or alert of a delivery: a later message can edit it, or answer in its thread.
alter table deliveries add column provider_ref text;
