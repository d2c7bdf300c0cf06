CREATE TABLE `server_choices` (
	`id` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
