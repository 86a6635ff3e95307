// Package email mails alarms: what begins and ends within half a minute in one mail, to
// each recipient by itself, so that an address which is refused keeps nothing from the
// others.
//
//	Teller ─► Sender.Send ─► what waits, by recipient ─► Sender.Run ─► SMTP, again until taken
//
// Send never waits. While the mail server is down events wait, the latest of each alarm;
// what the server refuses and what is too old is dropped, counted and logged.
//
// A mail holds counts, times and names of streams and partners, nothing of a claim. The
// password, the addresses and the server's own words are in no error and no log line.
package email
