CREATE TABLE `clock_readings` (
	`time` integer PRIMARY KEY NOT NULL,
	`running_ms` integer NOT NULL
);
