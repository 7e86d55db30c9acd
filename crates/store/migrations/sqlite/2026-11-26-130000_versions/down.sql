-- Bodies that only versions use would stay for ever.
DELETE FROM cache_body WHERE digest IN (SELECT digest FROM version_body WHERE in_row)
    AND digest NOT IN (SELECT body_digest FROM cache_entry WHERE in_row);
INSERT INTO unused_body (digest, deleting)
    SELECT DISTINCT digest, FALSE FROM version_body
    WHERE NOT in_row AND digest NOT IN (SELECT digest FROM unused_body);
DROP TABLE version_body;
DROP TABLE page_version;
