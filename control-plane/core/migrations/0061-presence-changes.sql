-- How often a replica has changed which agents are attached to it. The others read all agents again when one of these numbers
-- has changed, in place of every two seconds: with a thousand agents that was most of what an idle service did.
alter table replicas add column changes bigint not null default 0;
