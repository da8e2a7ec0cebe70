-- When a user last had a test mail sent about a monitor, which is possible once a minute.
alter table monitors add column mail_tested_at timestamptz;
