-- When the mail server last took a mail: whoever looks for mails that keep failing must know it every few seconds.
create index deliveries_mailed on deliveries (channel, delivered_at)
  where channel in ('mail', 'page') and delivered_at is not null;
