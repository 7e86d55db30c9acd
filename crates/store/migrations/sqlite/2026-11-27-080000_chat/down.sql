DROP TABLE chat_channel;
