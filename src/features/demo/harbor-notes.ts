/** The release notes of Harbor. */

export const HARBOR_NOTES = {
  '3.8.0': {
    en: '## Snooze\n\nSend a message away until tomorrow, next week or a date of your choice. It comes back to the top of the inbox.\n\n- Search understands `from:`, `has:attachment` and `before:`\n- Attachments open in a preview\n- 30 % less memory with three accounts or more\n',
    de: '## Später erinnern\n\nSchicken Sie eine Nachricht bis morgen, bis nächste Woche oder bis zu einem Datum weg. Sie kommt oben in den Posteingang zurück.\n\n- Die Suche versteht `from:`, `has:attachment` und `before:`\n- Anhänge öffnen sich in einer Vorschau\n- 30 % weniger Arbeitsspeicher ab drei Konten\n',
  },
  '3.8.1': {
    en: '- Fixes a crash when an IMAP server closes the connection during a search\n- The unread badge on macOS counts snoozed messages again\n',
  },
  '3.9.0': {
    en: '## Shared mailboxes\n\nTeams on Exchange and Microsoft 365 see their shared mailboxes beside their own.\n\n- Rules run on the server where it supports Sieve\n- New: keyboard shortcuts can be changed in **Settings → Keyboard**\n- Fixes wrong dates in messages from Outlook 2016\n',
    de: '## Gemeinsame Postfächer\n\nTeams mit Exchange und Microsoft 365 sehen gemeinsame Postfächer neben ihren eigenen.\n\n- Regeln laufen auf dem Server, wenn er Sieve unterstützt\n- Neu: Tastenkürzel lassen sich unter **Einstellungen → Tastatur** ändern\n- Behebt falsche Daten in Nachrichten von Outlook 2016\n',
    fr: '## Boîtes partagées\n\nLes équipes sur Exchange et Microsoft 365 voient leurs boîtes partagées à côté des leurs.\n\n- Les règles s’exécutent sur le serveur s’il prend en charge Sieve\n- Nouveau : les raccourcis clavier se modifient dans **Réglages → Clavier**\n- Corrige les dates erronées des messages d’Outlook 2016\n',
  },
  '3.9.1': {
    en: '- Drafts are saved every few seconds\n- Faster start with large mailboxes\n',
  },
  '3.9.2': {
    en: '**Everyone on 3.9.1 should update now.**\n\n- Drafts are no longer lost when the connection drops while they are saved\n- Drafts that 3.9.1 lost are restored from the local journal where it has them\n',
    de: '**Wer 3.9.1 hat, sollte jetzt aktualisieren.**\n\n- Entwürfe gehen nicht mehr verloren, wenn die Verbindung beim Speichern abbricht\n- Entwürfe, die 3.9.1 verloren hat, werden aus dem lokalen Journal wiederhergestellt, wenn es sie enthält\n',
  },
  '3.10.0': {
    en: '## Prepares for Harbor 4\n\nThis version converts the mail database in the background. Harbor 4 needs the new database, so every installation passes through 3.10.\n\n- The conversion takes a few minutes and can be interrupted\n- Nothing is deleted: the old database stays until Harbor 4 has started once\n',
    de: '## Bereitet auf Harbor 4 vor\n\nDiese Version wandelt die Maildatenbank im Hintergrund um. Harbor 4 braucht die neue Datenbank, daher führt jeder Weg über 3.10.\n',
  },
  '4.0.0-beta.1': {
    en: '## First beta of Harbor 4\n\nA new message list, threads across folders, and a calendar.\n\n**Known problems**\n\n- The calendar does not show invitations from Google yet\n- Printing ignores the paper size on Linux\n',
  },
  '4.0.0-beta.2': {
    en: '- Invitations from Google appear in the calendar\n- Threads keep their order when a message is moved\n- Printing uses the paper size of the system\n',
  },
  '4.0.0': {
    en: '# Harbor 4\n\nThe largest release since the first one.\n\n## A calendar beside the mail\n\nAccept an invitation and see at once what else happens that day. CalDAV, Exchange and Google work.\n\n## Threads across folders\n\nSent messages appear in the conversation they belong to.\n\n## Faster\n\n| | Harbor 3 | Harbor 4 |\n| --- | --- | --- |\n| Start with 200,000 messages | 6.1 s | 1.4 s |\n| Search in all accounts | 2.8 s | 0.3 s |\n\nHarbor 4 needs Windows 10, macOS 12 or newer.\n',
    de: '# Harbor 4\n\nDie größte Version seit der ersten.\n\n- **Kalender** neben der Post: CalDAV, Exchange und Google\n- **Unterhaltungen** über Ordner hinweg\n- **Schneller**: Start mit 200.000 Nachrichten in 1,4 statt 6,1 Sekunden\n',
  },
  '4.0.0 fr':
    '# Harbor 4\n\nLa plus grande version depuis la première.\n\n- **Calendrier** à côté du courrier : CalDAV, Exchange et Google\n- **Conversations** à travers les dossiers\n- **Plus rapide** : démarrage avec 200 000 messages en 1,4 s au lieu de 6,1 s\n',
  '4.0.1': {
    en: '- Calendars with more than 10,000 events open without delay\n- Fixes a blank window after sleep on some Windows laptops\n- Fixes signatures with images being sent twice\n',
    de: '- Kalender mit mehr als 10.000 Terminen öffnen ohne Verzögerung\n- Kein leeres Fenster mehr nach dem Ruhezustand auf einigen Windows-Laptops\n- Signaturen mit Bildern werden nicht mehr doppelt gesendet\n',
  },
  '4.1.0-beta.1': {
    en: '- New: send later, also when Harbor is closed\n- New: contacts from CardDAV\n- The sidebar can be hidden with `Ctrl+B`\n',
  },
  '4.1.0': {
    en: '## Send later\n\nChoose when a message leaves. The server sends it, so your computer may sleep.\n\n- Contacts from CardDAV servers\n- The sidebar can be hidden with `Ctrl+B` or `⌘B`\n- Dark messages stay readable in the dark theme\n',
    de: '## Später senden\n\nWählen Sie, wann eine Nachricht abgeht. Der Server sendet sie, Ihr Computer darf schlafen.\n\n- Kontakte von CardDAV-Servern\n- Die Seitenleiste lässt sich mit `Strg+B` oder `⌘B` ausblenden\n- Dunkle Nachrichten bleiben im dunklen Design lesbar\n',
    fr: '## Envoyer plus tard\n\nChoisissez quand un message part. Le serveur l’envoie : votre ordinateur peut dormir.\n\n- Contacts des serveurs CardDAV\n- La barre latérale se masque avec `Ctrl+B` ou `⌘B`\n- Les messages sombres restent lisibles dans le thème sombre\n',
  },
  '4.1.1': {
    en: '- Messages that were scheduled in another time zone leave at the right time\n- Fixes a crash when a CardDAV server has no address books\n',
  },
  '4.2.0-beta.1': {
    en: '- Calendar: find a time that suits everyone\n- Calendar: recurring events sync in both directions\n',
  },
} as const;
