-- Colour of the links, buttons and the rule at the top of a status page, #rrggbb in lower case; null: those of the service.
alter table status_pages add column accent_color text;
